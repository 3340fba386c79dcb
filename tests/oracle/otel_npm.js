// otel_npm.js WEND NODE_MODULES - see otel_npm.sh.
//
// The command sends to a server here, which checks each body strictly by the
// messages of the .proto files (the mock server is lenient: it takes what is
// not in them) and passes it on to the mock server.
'use strict';
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');
const {spawn} = require('child_process');
const [wend, modules] = process.argv.slice(2);
const mock = path.join(modules, '@elastic/mockotlpserver/lib');
const {MockOtlpServer} = require(path.join(mock, 'mockotlpserver.js'));
const {getProtoRoot} = require(path.join(mock, 'proto.js'));

let checks = 0, bad = 0;
function ok(holds, name, more) {
    console.log(`${holds ? 'ok' : 'not ok'} ${++checks} - ${name}`);
    if (!holds) {
        bad++;
        if (more !== undefined)
            console.log(`# ${JSON.stringify(more).slice(0, 1000)}`);
    }
}

// ---- The rules of OTLP's JSON ---------------------------------------------

const hex = {traceId: 32, spanId: 16, parentSpanId: 16};

function checkValue(field, value, at, faults) {
    const type = field.resolve().resolvedType;
    const say = what => faults.push(`${at}: ${what}`);

    if (type && type.fields) {
        checkMessage(type, value, at, faults);
    } else if (type) {
        if (!Number.isInteger(value) || !(value in type.valuesById))
            say('not a number of the enumeration');
    } else if (field.type === 'bytes') {
        if (!new RegExp(`^[0-9a-f]{${hex[field.name]}}$`).test(value))
            say('not hex of that length');
    } else if (/64$/.test(field.type)) {
        if (typeof value !== 'string' || !/^-?[0-9]+$/.test(value))
            say('not an integer as text');
    } else {
        const want = {string: 'string', bool: 'boolean'}[field.type] || 'number';

        if (typeof value !== want)
            say(`not a ${want}`);
    }
}

function checkMessage(type, value, at, faults) {
    if (value === null || typeof value !== 'object' || Array.isArray(value))
        return void faults.push(`${at}: not an object`);
    for (const [key, v] of Object.entries(value)) {
        const field = type.fields[key];

        if (!field)
            faults.push(`${at}.${key}: unknown`);
        else if (field.repeated && !Array.isArray(v))
            faults.push(`${at}.${key}: not a list`);
        else
            (field.repeated ? v : [v]).forEach((x, i) =>
                checkValue(field, x, `${at}.${key}[${i}]`, faults));
    }
    for (const one of type.oneofsArray)
        if (one.fieldsArray.filter(f => f.name in value).length > 1)
            faults.push(`${at}: two of ${one.name}`);
}

const request = getProtoRoot().lookupType(
    'opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest');

// ---- The servers ------------------------------------------------------------

const traces = [], faults = [];
let bodies = 0;
const real = new MockOtlpServer({logLevel: 'fatal', services: ['http'],
    httpHostname: '127.0.0.1', httpPort: 0, onTrace: t => traces.push(t)});
const front = http.createServer((q, r) => {
    const parts = [];

    q.on('data', p => parts.push(p));
    q.on('end', async () => {
        const body = Buffer.concat(parts).toString();

        bodies++;
        try {
            checkMessage(request, JSON.parse(body), '', faults);
        } catch (e) {
            faults.push(String(e));
        }
        const a = await fetch(new URL(q.url, real.httpUrl),
            {method: q.method, headers: {'content-type': q.headers['content-type']}, body});
        r.writeHead(a.status, {'content-type': 'application/json'});
        r.end(await a.text());
    });
});

function run(args, dir) {
    return new Promise(done => {
        const p = spawn(wend, args, {cwd: dir, stdio: ['ignore', 'ignore', 'pipe'],
            env: {PATH: process.env.PATH, HOME: dir, WEND_STORE: `${dir}/w.db`,
                OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${front.address().port}`,
                OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true'}});
        let err = '';

        p.stderr.on('data', d => err += d);
        p.on('close', code => done({code, err}));
    });
}

const model = 'script:{"turns":[{"when":"papers","text":"Let me see.","calls":[' +
    '{"name":"calculator","args":{"expression":"6*7"}}]},{"text":"It is 42."}]}';
const plan = `wend: plan/1
name: p
actions:
  - {name: a, type: agent, target: sum.yaml, prompt: papers}
  - {name: b, type: tool, target: calculator, params: {expression: "1/0"}, skip_on_error: true}
`;

async function main() {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'otel-'));

    fs.writeFileSync(`${dir}/sum.yaml`, 'wend: agent/1\nname: sum\ntools: [calculator]\n');
    fs.writeFileSync(`${dir}/p.yaml`, plan);
    await real.start();
    await new Promise(go => front.listen(0, '127.0.0.1', go));
    const r = await run(['plan', 'run', '-q', '-m', model, 'p.yaml'], dir);
    ok(r.code === 0 && !r.err, 'a plan with an agent runs', r);
    for (let i = 0; i < 100 && !traces.length; i++)
        await new Promise(go => setTimeout(go, 50));
    ok(bodies > 0 && !faults.length, 'every body is as the .proto files have it', faults);
    const spans = traces.flatMap(t => t.resourceSpans).flatMap(s => s.scopeSpans)
        .flatMap(s => s.spans);
    ok(spans.map(s => s.name).sort().join() === 'action a,chat script,chat script,' +
        'execute_tool calculator,execute_tool calculator,invoke_agent sum,' +
        'invoke_workflow p', 'the mock server has all spans', spans.map(s => s.name));
    const ids = new Set(spans.map(s => Buffer.from(s.spanId).toString('hex')));
    ok(ids.size === spans.length, 'each with an id of its own');
    const roots = spans.filter(s => !s.parentSpanId || !s.parentSpanId.length);
    ok(roots.length === 1 && roots[0].name === 'invoke_workflow p',
        'one of them is the root', roots.map(s => s.name));
    ok(spans.every(s => BigInt(s.endTimeUnixNano) >= BigInt(s.startTimeUnixNano)),
        'none ends before it begins');
    front.close();
    front.closeAllConnections();
    await real.close();
    fs.rmSync(dir, {recursive: true});
    console.log(`1..${checks}`);
    process.exit(bad ? 1 : 0);
}

main();
