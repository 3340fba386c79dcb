// clients_help.mjs - runs, their records, and a server that gives them to a
// client; for clients.mjs.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [wend, driver, dir] = process.argv.slice(2).map(p => resolve(p));
const home = mkdtempSync(join(tmpdir(), 'wend-clients-'));
const require = createRequire(join(dir, 'package.json'));
let checks = 0, failed = 0;

export function finish()
{
    rmSync(home, { recursive: true, force: true });
    console.log(`1..${checks}`);
    process.exit(failed ? 1 : 0);
}

export function check(holds, name, detail)
{
    failed += !holds;
    console.log(`${holds ? 'ok' : 'not ok'} ${++checks} - ${name}`);
    if (!holds)
        console.log(`# ${String(detail).slice(0, 3000).replace(/\n/g, '\n# ')}`);
}

export function same(got, wanted, name)
{
    const a = JSON.stringify(got), b = JSON.stringify(wanted);
    check(a === b, name, `got:    ${a}\nwanted: ${b}`);
}

export const load = name => import(pathToFileURL(require.resolve(name)).href);

// ---- Runs ------------------------------------------------------------------

const env = { ...process.env, HOME: home, XDG_DATA_HOME: home, NO_COLOR: '1',
              WEND_STORE: join(home, 'wend.db') };
const options = { cwd: home, encoding: 'utf8', timeout: 60000, env };

export function command(...args)
{
    const r = spawnSync(wend, args, options);
    if (r.error || r.signal)
        throw new Error(`wend ${args[0]}: ${r.error ?? r.signal}`);
    return r.stdout;
}

const script = turns => 'script:' + JSON.stringify({ turns });
const run = (turns, ...more) =>
    command('run', '--json', '-m', script(turns), ...more, 'go');

// The same as `wend run`, killed when its output has the text.
async function killed(turns, text, signal, ...more)
{
    const p = spawn(wend, ['run', '--json', '-m', script(turns), ...more, 'go'],
                    { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
    let out = '', sent = false;
    for await (const piece of p.stdout) {
        out += piece;
        if (!sent && out.includes(text)) {
            sent = true;
            p.kill(signal);
        }
    }
    return out;
}

// What `wend resume --events ag-ui` printed.
export let rest;

async function resumed()
{
    const out = await killed([
        { text: 'This is lost', delay: '50ms', chunk: 2 },
        { text: 'Again.' }], '"text":"Th"', 'SIGKILL');
    const id = JSON.parse(out.split('\n')[0]).run;
    rest = command('resume', '--events', 'ag-ui', '-m',
                   script([{ text: 'Once more.' }]), id);
    return command('log', '--json', id);
}

const sum = { name: 'calculator', args: { expression: '1+2' } };
const bad = { name: 'calculator', args: { expression: '1/0' } };
const busy = { error: { code: 'rate_limit', message: 'slow down' } };

// Events that need a person or a provider: written by hand.
let at = 0;
export function event(type, data, turn = 0)
{
    const inside = !type.startsWith('run_') && type !== 'metrics';
    return JSON.stringify({ run: 'r1', seq: ++at, time: 1700000000 + at, type,
        ...inside && { turn, turn_id: `t.${turn}` }, data }) + '\n';
}

export function story(...events)
{
    const config = { tools: [{ name: 'pick', source: 'client' }] };
    at = 0;
    return event('run_start', { prompt: 'p', model: 'm', session: 's1',
                                config }) +
        event('turn_start', { counter: 0, id: 't.0', parent_id: null,
                              compacted: false }) +
        events.map(e => event(...e)).join('');
}

const asks = ['model_start', { model: 'm', attempt: 1, purpose: 'answer' }];
const call = (id, name) => ({ id, name, args: { q: 1 } });
const answers = (text, calls = [], more = {}) => ['model_end', { outcome: 'ok',
    purpose: 'answer', text, opaque: [], calls, finish: calls.length ?
    'tool_calls' : 'stop', usage: { input: 7, output: 5, cached: 3,
    reasoning: 2 }, first_token_ms: 1, ms: 1, ...more }];
const metrics = { turns: 1, model_calls: 1, tool_calls: 1, tool_errors: 0,
    actions: 0, tokens_in: 7, tokens_out: 5, tokens_cached: 3, cost: null,
    ms: 1, first_token_ms: 1 };
const ends = (outcome, text = '', more = {}) => [
    ['turn_end', { outcome, calls: 0, failed_calls: 0 }],
    ['run_end', { outcome, text, metrics, ...more }]];
const starts = (id, name) => ['call_start', { call: id, name, args: { q: 1 },
    class: 'unsafe', key: 'k', attempt: 1, policy: {} }];
const returns = (id, name, outcome, output, more = {}) => ['call_end',
    { call: id, name, outcome, output, ms: 1, ...more }];
const delta = (type, text, call) => [type, { text, ...call && { call } }];

writeFileSync(join(home, 'plan.yaml'), `wend: plan/1
name: p
outputs: {sum: $sum}
actions:
  - {id: a, type: tool, target: calculator, params: {expression: 1+1},
     output_key: sum}
  - {id: b, type: llm, prompt: say it, depends_on: [a]}
`);
writeFileSync(join(home, 'kid.yaml'),
              'wend: agent/1\nname: kid\nmodel: ' +
              JSON.stringify(script([{ text: 'from the kid' }])) + '\n');
writeFileSync(join(home, 'agent.yaml'),
              'wend: agent/1\nname: top\nagents: [kid.yaml]\nmodel: ' +
              JSON.stringify(script([
                  { calls: [{ name: 'task', args: { agent: 'kid',
                                                    prompt: 'x' } }] },
                  { text: 'over' }])) + '\n');
writeFileSync(join(home, 'schema.json'), JSON.stringify({ type: 'object',
    required: ['a'] }));

export const runs = {
    text: run([{ text: 'Hello there.', usage: { input: 7, output: 3 } }]),
    thinking: run([{ thinking: 'let me see', text: 'So.' }]),
    tools: run([{ text: 'Look.', calls: [sum, sum], delay: '10ms' },
                { text: 'Three.' }]),
    failing: run([{ calls: [bad] }, { text: 'No.' }]),
    'ids again': run([{ calls: [{ ...sum, id: 'x' }] },
                      { calls: [{ ...sum, id: 'x' }] }, { text: 'Done.' }]),
    'bad arguments': run([{ calls: [{ name: 'calculator',
                                      args_text: '{"exp' }] }, { text: '.' }]),
    denied: run([{ calls: [{ name: 'write_file', args: { path: 'a',
        content: 'b' } }] }, { text: 'I may not.' }], '-t', 'write_file'),
    limit: run([{ calls: [sum] }, { text: 'never' }], '--max-turns', '1'),
    failed: run([busy, busy, busy]),
    retried: run([busy, { text: 'Here I am.' }]),
    dead: run([{ text: 'Half an ans', error: { code: 'service',
        message: 'gone', after: 2 } }]),
    canceled: await killed([{ text: 'one two three four', delay: '50ms' }],
                           '"text":"one ', 'SIGINT'),
    resumed: await resumed(),
    plan: command('plan', 'run', '--json', '-m',
                  script([{ text: 'two' }]), 'plan.yaml'),
    child: command('run', '--json', '-a', 'agent.yaml', '--approve', 'all',
                   'go'),
    schema: run([{ text: 'no json' }, { text: '{"a":1}', purpose: 'repair' }],
                '--schema', 'schema.json'),
    approved: story(asks, answers('May I?', [call('c1', 'rm')]),
        ['approval_ask', { call: 'c1', name: 'rm', args: { q: 1 },
                           risk: 'high', layers: [], reason: 'it removes' }],
        ['approval_answer', { call: 'c1', yes: true, by: 'me' }],
        starts('c1', 'rm'), returns('c1', 'rm', 'ok', 'gone'),
        ...ends('ok', 'May I?')),
    superseded: story(asks, delta('thinking_delta', 'hm'),
        delta('text_delta', 'void'),
        ['run_resume', { epoch: 2, from_seq: 3 }],
        answers('', [], { outcome: 'superseded' }), asks,
        delta('text_delta', 'real'), answers('real'), ...ends('ok', 'real')),
    'attempts of a call': story(asks, answers('', [call('c1', 'rm')]),
        starts('c1', 'rm'), ['run_resume', { epoch: 2, from_seq: 3 }],
        returns('c1', 'rm', 'superseded', ''), starts('c1', 'rm'),
        returns('c1', 'rm', 'ok', 'gone'), ...ends('ok')),
    client: story(asks, delta('text_delta', 'Your turn.'),
        answers('Your turn.', [call('c1', 'pick'), call('c2', 'pick')]),
        starts('c1', 'pick'), returns('c1', 'pick', 'ok', '',
                                      { given: 'client' }),
        starts('c2', 'pick'), returns('c2', 'pick', 'ok', '',
                                      { given: 'client' }),
        ...ends('ok', 'Your turn.')),
    cut: story(asks, delta('text_delta', 'too lo'), answers('too lo', [],
        { finish: 'length' }), ...ends('ok', 'too lo')),
    filtered: story(asks, answers('', [], { finish: 'content_filter' }),
        ...ends('ok')),
};

// The records of a run; settings as dialect_driver.c has them.
export function records(dialect, lines, settings = {})
{
    const args = Object.entries(settings).map(([k, v]) => `${k}=${v}`);
    const r = spawnSync(driver, [dialect, ...args],
                        { input: lines, encoding: 'utf8' });
    if (r.status !== 0)
        throw new Error(`${dialect}: ${r.stderr}`);
    return r.stdout;
}

// ---- A server that answers with records ------------------------------------

// frame(line) gives the frame of a record; `tail` follows the last.
export async function serve(text, frame, tail, then,
                            type = 'text/event-stream', status = 200)
{
    const server = http.createServer((q, s) => {
        q.resume();
        q.on('end', () => {
            s.writeHead(status, { 'content-type': type });
            for (const line of text.split('\n').filter(Boolean))
                s.write(frame(line));
            s.end(tail);
        });
    });
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    try {
        return await then(`http://127.0.0.1:${server.address().port}/v1`);
    } finally {
        server.closeAllConnections();
        server.close();
    }
}

export const sse = line => `data: ${line}\n\n`;

// What a client says beside its answer.
export async function warnings(then)
{
    const before = { warn: console.warn, error: console.error };
    const said = [];
    console.warn = console.error = (...words) => said.push(words.join(' '));
    try {
        return [await then(), said];
    } finally {
        Object.assign(console, before);
    }
}
