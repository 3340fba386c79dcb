// check.mjs - the document of the API against a validator, the table of routes
// and the answers of a running server. Prints a line for each check: "ok NAME"
// or "not ok NAME: WHY".
//
//     node check.mjs URL TOKEN PACKAGES ROUTE.C INTERRUPTED-RUN
//
// The agents quick, asks, slow and fails are those of tests/cli/openapi.sh.
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const [url, token, packages, table, interrupted] = process.argv.slice(2);
const require = createRequire(pathToFileURL(packages + '/'));
const {Validator} = await import(pathToFileURL(
    require.resolve('@seriousme/openapi-schema-validator')));
const Ajv = require('ajv/dist/2020.js').default;

function say(name, why) {
    console.log(why ? `not ok ${name}: ${why}` : `ok ${name}`);
}

const sha256 = text => createHash('sha256').update(text).digest('hex');
const auth = {Authorization: `Bearer ${token}`};

async function get(path, headers = {}) {
    return fetch(url + path, {headers: {...auth, ...headers}});
}

// ---- The document --------------------------------------------------------

const doc = await (await get('/openapi.json')).json();
const verdict = await new Validator().validate(structuredClone(doc));
say('the validator accepts the document',
    verdict.valid ? '' : JSON.stringify(verdict.errors));

const ajv = new Ajv({strict: false, validateFormats: false, allErrors: true});
ajv.addSchema(doc, 'api');
const pointer = parts => parts.map(p => '/' + encodeURIComponent(
    String(p).replaceAll('~', '~0').replaceAll('/', '~1'))).join('');

// What is wrong with a value, by a place in the document; '' if nothing is.
function wrong(parts, value) {
    const check = ajv.compile({$ref: 'api#' + pointer(parts)});
    return check(value) ? '' : ajv.errorsText(check.errors);
}
const wrongAs = (name, value) => wrong(['components', 'schemas', name], value);

// ---- The table -----------------------------------------------------------

const rights = {READ: 'read', RUN: 'run', WEND_RIGHT_APPROVE: 'approve',
                WEND_RIGHT_ADMIN: 'admin', 0: ''};
const rows = {};
for (const [, method, id, , path = '', right, , max] of readFileSync(table, 'utf8')
    .matchAll(/^\s*\{"([A-Z]+)", (ID)?\s*("([^"]*)")?,\s*(\w+),\s*(\w+),\s*(\w+)/gm))
    rows[`${method} ${id ? '/v1/runs/{}' : ''}${path}`] =
        {right: rights[right], body: max !== '0'};
const ops = {}, names = {};
for (const [path, item] of Object.entries(doc.paths))
    for (const [method, op] of Object.entries(item)) {
        const key = `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, '{}')}`;
        ops[key] = names[op.operationId] = {path, method, op};
    }
const only = (a, b) => Object.keys(a).filter(k => !(k in b)).join(', ');
say('every route is in the document', only(rows, ops));
say('the document has no other routes', only(ops, rows));
say('there are routes', Object.keys(rows).length < 30 ? 'none' : '');
for (const [key, row] of Object.entries(rows)) {
    const op = ops[key]?.op;
    if (!op)
        continue;
    const said = op.security?.length === 0 ? '' :
        /Right: (\w+)\./.exec(op.description)?.[1];
    say(`${key}: its right`, said === row.right ? '' : `${said}, not ${row.right}`);
    say(`${key}: whether it has a body`,
        !!op.requestBody === row.body ? '' : 'it differs');
}

// ---- Answers ---------------------------------------------------------------

const seen = new Set();

// Frames of a stream: {event, id, data}; stops after `enough`.
async function frames(response, enough = () => false) {
    const list = [];
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body) {
        text += decoder.decode(piece, {stream: true});
        for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
            const f = {event: '', data: ''};
            for (const line of text.slice(0, end).split('\n')) {
                const [, name, value] = /^(\w*): ?(.*)/.exec(line) ?? [];
                if (name)
                    f[name] = value;
            }
            list.push(f);
            if (enough(f))
                return list;
        }
    }
    return list;
}

// One request of an operation, whose answer must have this status and fit the
// document. A body that is no text is checked, too, unless it must be refused.
async function ask(id, status, {path = {}, query = '', body, headers = {},
                                enough, note = ''} = {}) {
    const {path: pattern, method, op} = names[id] ?? {};
    const name = `${id}${note ? `, ${note}` : ''}: ${status}`;
    if (!op) {
        say(name, 'the document has no such operation');
        return {};
    }
    const target = pattern.replace(/\{(\w+)\}/g, (_, k) => path[k] ?? 'x') + query;
    const json = body !== undefined && !(body instanceof Uint8Array);
    const stop = new AbortController();
    const response = await fetch(url + target, {
        method: method.toUpperCase(), signal: stop.signal,
        headers: {...auth, ...(json ? {'Content-Type': 'application/json'} : {}),
                  ...headers},
        body: json ? JSON.stringify(body) : body});
    const media = (response.headers.get('content-type') ?? '').split(';')[0];
    const at = ['paths', pattern, method, 'responses',
                response.status in op.responses ? response.status : 'default'];
    let answer = op.responses[at.at(-1)], why = '', value;

    if (answer?.$ref) {
        at.splice(0, at.length, ...answer.$ref.slice(2).split('/'));
        answer = doc.components.responses[at.at(-1)];
    }
    if (status < 400 && json && op.requestBody)
        why = wrong(['paths', pattern, method, 'requestBody', 'content',
                     'application/json', 'schema'], body);
    if (response.status !== status)
        why = `it is ${response.status}`;
    if (!answer)
        why ||= 'the document has no such status';
    else if (answer.content && !(media in answer.content) && !('*/*' in answer.content))
        why ||= `${media} is not in the document`;
    if (media === 'text/event-stream')
        value = await frames(response, enough);
    else if (/json$/.test(media))
        value = await response.json();
    else
        value = await response.text();
    stop.abort();
    if (answer?.content?.[media]?.schema && /json$/.test(media))
        why ||= wrong([...at, 'content', media, 'schema'], value);
    if (why)
        why += ' ' + JSON.stringify(value).slice(0, 500);
    say(name, why);
    if (!why && status < 400)
        seen.add(id);
    return {value, response};
}

async function soon(what, test) {
    for (let i = 0; i < 600; i++) {
        if (await test())
            return;
        await new Promise(done => setTimeout(done, 100));
    }
    say(`in time: ${what}`, 'it is not');
}
const info = async run => (await get(`/v1/runs/${run}`)).json();
const ended = run => soon(`${run} ends`, async () => (await info(run)).ended);
async function start(agent, more = {}) {
    const {value} = await ask('start', 201,
        {body: {prompt: 'hi', agent, ...more}, note: agent});
    return value.run;
}

// ---- Every route -----------------------------------------------------------

for (const id of ['page', 'pageRun', 'pageChat', 'pageChatOf', 'pagePlan',
                  'pagePlanOf', 'pageDiff', 'health', 'ready', 'openapi', 'me',
                  'agents', 'tools', 'providers', 'metrics'])
    await ask(id, 200);
await ask('pageFile', 200, {path: {file: 'main.js'}});
await ask('pageFile', 404, {path: {file: 'none'}});
const me = (await ask('me', 200)).value;
say('version', me.version === doc.info.version ? '' : me.version);

const file = new TextEncoder().encode('some text');
const {value: upload} = await ask('upload', 201, {query: '?name=a.txt', body: file,
    headers: {'Content-Type': 'text/plain'}});
const quick = await start('quick', {session: 's', labels: {a: 'b'},
    limits: {turns: 9, time_ms: 60000, tokens: 100000, cost: 1.5, parallel: 2},
    parts: [{blob: upload.blob, name: 'a.txt'}]});
await ended(quick);
await ask('start', 201, {body: {messages: [{role: 'user', text: 'a'},
    {role: 'assistant', text: 'b'}], prompt: 'c'}, note: 'with messages'});
await ask('start', 201, {body: {follow: quick, prompt: 'more'}, note: 'that follows'});
await ask('start', 201, {body: {plan: {wend: 'plan/1', actions: [{name: 'a',
    type: 'tool', target: 'calculator', params: {expression: '1'}}]}}, note: 'a plan'});
const key = {'Idempotency-Key': 'one'};
const first = await ask('start', 201, {body: {prompt: 'hi'}, headers: key, note: 'a key'});
const again = await ask('start', 201, {body: {prompt: 'hi'}, headers: key, note: 'again'});
say('the same key is the same run', first.value.run === again.value.run ? '' : 'it is not');
await ask('start', 409, {body: {prompt: 'ho'}, headers: key, note: 'another body'});
await ask('start', 400, {body: {prompt: 'hi', wurst: 1}, note: 'unknown member'});
await ask('start', 404, {body: {prompt: 'hi', agent: 'none'}, note: 'no agent'});
await ask('start', 422, {body: {prompt: 'hi', model: 'none'}, note: 'no model'});
await ask('start', 415, {body: file, note: 'no JSON'});
await ask('me', 401, {headers: {Authorization: 'Bearer none'}});
await ask('me', 403, {headers: {Origin: 'https://example.org'}, note: 'foreign'});

await ask('runs', 200, {query: '?limit=2&status=ok&agent=quick&top=1&since=1&q=h'});
await ask('runs', 400, {query: '?wurst=1'});
await ask('run', 200, {path: {run: quick}});
await ask('run', 404);
const page = await ask('events', 200, {path: {run: quick}, query: '?format=json&limit=5'});
say('a page has events', page.value.events?.length === 5 && page.value.next === 6 ?
    '' : JSON.stringify(page.value).slice(0, 300));
const flow = (await ask('events', 200, {path: {run: quick}})).value;
say('a stream has events', flow.map(f => wrongAs('Event', JSON.parse(f.data)))
    .find(why => why) ?? (flow.at(-1)?.data.includes('"run_end"') ? '' : 'no end'));
await ask('events', 204, {path: {run: quick}, headers: {'Last-Event-ID': flow.at(-1).id}});
await ask('context', 200, {path: {run: quick}});
const blob = {run: quick, sha256: sha256(file)};
await ask('blob', 200, {path: blob});
await ask('blob', 206, {path: blob, headers: {Range: 'bytes=0-3'}});
await ask('blob', 416, {path: blob, headers: {Range: 'bytes=99-'}});

const asks = await start('asks');
await soon('a call waits', async () => (await info(asks)).waiting.length);
const {value: waits} = await ask('run', 200, {path: {run: asks}, note: 'that waits'});
const {call, args, args_sha256} = waits.waiting[0];
say('the hash is that of the arguments',
    args_sha256 === sha256(JSON.stringify(args)) ? '' : 'it is not');
await ask('approve', 409, {path: {run: asks},
    body: {call, args_sha256: sha256(''), yes: true}});
await ask('approve', 404, {path: {run: asks}, body: {call: 'none', args_sha256, yes: true}});
await ask('approve', 202, {path: {run: asks}, body: {call, args_sha256, yes: true}});
await ended(asks);

const slow = await start('slow');
await ask('pause', 202, {path: {run: slow}, body: {}});
await ask('continue', 202, {path: {run: slow}});
await ask('compact', 202, {path: {run: slow}, body: {focus: 'all'}});
await ask('say', 202, {path: {run: slow}, body: {text: 'faster', pin: true}});
const rows_ = (await ask('feed', 200, {enough: f => f.event === 'ready'})).value;
say('the feed has what runs', rows_.some(f => f.event === 'run' &&
    JSON.parse(f.data).run === slow) ? '' : JSON.stringify(rows_));
say('the feed has rows', rows_.filter(f => f.event === 'run')
    .map(f => wrongAs('Row', JSON.parse(f.data))).find(why => why));
await ask('cancel', 202, {path: {run: slow}, body: {}});
await ended(slow);
await ask('cancel', 409, {path: {run: slow}, body: {}});

const fails = await start('fails');
await ended(fails);
await ask('run', 200, {path: {run: fails}, note: 'that failed'});
await ask('retry', 201, {path: {run: fails}, body: {}});
await ask('fork', 201, {path: {run: quick}, body: {say: 'again', limits: {turns: 3}}});
await ask('resume', 201, {path: {run: interrupted}});
await ask('resume', 409, {path: {run: quick}});
await ask('stats', 200);
await ask('checkPlan', 200, {body: {plan: 'wend: plan/1\nactions: []\n'}});
await ask('checkPlan', 200, {body: {plan: 'wend: plan/1\nactions: [{name: a, type: tool,' +
    ' target: calculator, params: {expression: "1"}}]\n'}, note: 'a good one'});

// ---- Protocols -------------------------------------------------------------

const said = {model: 'quick', messages: [{role: 'user', content: 'hi'}]};
await ask('models', 200);
await ask('chatCompletions', 200, {body: said});
const chunks = (await ask('chatCompletions', 200,
    {body: {...said, stream: true}, note: 'a stream'})).value;
say('its stream is done', chunks.at(-1)?.data === '[DONE]' ? '' : 'no');
await ask('chatCompletions', 400, {body: {messages: []}});
await ask('chatCompletions', 404, {body: {...said, model: 'none'}});
await ask('responses', 200, {body: {model: 'quick', input: 'hi'}});
const parts = (await ask('responses', 200,
    {body: {model: 'quick', input: 'hi', stream: true}, note: 'a stream'})).value;
say('its events are named', parts.at(-1)?.event === 'response.completed' ? '' : 'no');
const agui = (await ask('agUi', 200, {path: {agent: 'quick'},
    body: {threadId: 't', runId: 'r', messages: [{id: '1', role: 'user', content: 'hi'}]}}))
    .value;
say('its last event', agui.at(-1)?.data.includes('RUN_FINISHED') ? '' : 'no');
await ask('agUi', 400, {path: {agent: 'quick'}, body: {}});
const ui = (id, agent) => ({path: {agent, chat: id}, body: {id,
    messages: [{id: '1', role: 'user', parts: [{type: 'text', text: 'hi'}]}]}});
await ask('ui', 200, ui('one', 'quick'));
await ask('uiAgain', 204, {path: ui('one', 'quick').path});
await ask('ui', 200, {...ui('two', 'slow'), enough: () => true, note: 'the client leaves'});
await ask('uiAgain', 200, {path: ui('two', 'slow').path, enough: () => true});

for (const id of Object.keys(names))
    if (!seen.has(id))
        say(`${id} is asked`, 'it is not');
process.exit(0);
