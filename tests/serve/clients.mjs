// clients.mjs - 'wend serve' by the clients of the protocols that it speaks.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [wend, dir] = process.argv.slice(2).map(p => resolve(p));
const require = createRequire(join(dir, 'package.json'));
const load = name => import(pathToFileURL(require.resolve(name)).href);
const TOKEN = 'a-token-for-tests-0123456789';
let checks = 0, failed = 0;

function check(holds, name, detail)
{
    failed += !holds;
    console.log(`${holds ? 'ok' : 'not ok'} ${++checks} - ${name}`);
    if (!holds)
        console.log(`# ${String(detail).slice(0, 3000).replace(/\n/g, '\n# ')}`);
}

function same(got, wanted, name)
{
    const a = JSON.stringify(got), b = JSON.stringify(wanted);
    check(a === b, name, `got:    ${a}\nwanted: ${b}`);
}

// ---- The server --------------------------------------------------------------

const turns = [
    { when: 'slow', text: 'one two three four five six seven', delay: '200ms',
      repeat: 'forever' },
    { when: 'sum', text: 'Let me see. ', calls: [{ name: 'calculator',
        args: { expression: '6*7' } }], repeat: 'forever' },
    { when: 'write', calls: [{ name: 'write_file', args: { path: 'a.txt',
        content: 'x' } }], repeat: 'forever' },
    { when: 'weather', calls: [{ name: 'get_weather', id: 'w1',
        args: { city: 'Bern' } }], repeat: 'forever' },
    { when: '21 degrees', text: 'It is mild.', repeat: 'forever' },
    { when: '42', text: 'It is 42.', repeat: 'forever' },
    { when: 'a.txt', text: 'Written.', repeat: 'forever' },
    { text: 'Hello there.', thinking: 'Say hello.', repeat: 'forever',
      usage: { input: 7, output: 3 } },
];
const server = spawn(wend, ['serve', '--listen', '127.0.0.1:0', '-m',
    'script:' + JSON.stringify({ turns }), '-t', 'calculator', '-t',
    'write_file'], { env: { ...process.env, WEND_TOKEN: TOKEN },
                     stdio: ['ignore', 'ignore', 'pipe'] });
let said = '';
const url = await new Promise((done, fail) => {
    server.stderr.on('data', piece => {
        said += piece;
        const m = said.match(/listening on (http:\S+)/);
        if (m)
            done(m[1]);
    });
    server.on('exit', () => fail(new Error(said)));
});
const headers = { authorization: `Bearer ${TOKEN}` };
const api = async path => (await fetch(url + path, { headers })).json();
const newest = async () => (await api('/v1/runs?limit=1')).runs[0];
async function until(test)
{
    for (let i = 0; i < 300; i++) {
        const row = await newest();
        if (test(row))
            return row;
        await new Promise(r => setTimeout(r, 50));
    }
    return newest();
}

// ---- OpenAI ------------------------------------------------------------------

async function openai()
{
    const { OpenAI } = await load('openai');
    const client = new OpenAI({ apiKey: TOKEN, baseURL: `${url}/v1`,
                                maxRetries: 0 });
    const messages = [{ role: 'system', content: 'Be brief.' },
                      { role: 'user', content: 'hi' }];
    same((await client.models.list()).data.map(m => m.id), ['agent'],
         'openai: agents are models');
    let c = await client.chat.completions.create({ model: 'agent', messages });
    same([c.choices[0].message.content, c.choices[0].finish_reason,
          c.usage.total_tokens], ['Hello there.', 'stop', 10], 'openai: chat');
    let text = '', usage, thought = '';
    const stream = await client.chat.completions.create({ model: 'agent',
        messages, stream: true, stream_options: { include_usage: true } });
    for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        thought += chunk.choices[0]?.delta.reasoning_content ?? '';
        usage = chunk.usage ?? usage;
    }
    same([text, thought, usage?.total_tokens], ['Hello there.', 'Say hello.',
                                                10], 'openai: chat, streamed');
    c = await client.chat.completions.stream({ model: 'agent', messages: [
        { role: 'user', content: 'the sum' }] }).finalChatCompletion();
    same([c.choices[0].message.content.includes('It is 42.'),
          c.choices[0].message.tool_calls], [true, undefined],
         "openai: the server's tools are not the client's");
    c = await client.chat.completions.create({ model: 'agent', messages: [
        { role: 'user', content: [{ type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'http://x.test/a.png' } }] }
        ] }).catch(e => e);
    same([c.status, c.type], [400, 'invalid_request_error'],
         'openai: a URL is not fetched');
    c = await client.chat.completions.create({ model: 'nobody', messages })
        .catch(e => e);
    same([c.status, c.constructor.name], [404, 'NotFoundError'],
         'openai: an unknown model');
    c = await new OpenAI({ apiKey: 'wrong-wrong-wrong-wrong', maxRetries: 0,
        baseURL: `${url}/v1` }).models.list().catch(e => e);
    same(c.constructor.name, 'AuthenticationError', 'openai: a wrong token');
    const tools = [{ type: 'function', function: { name: 'get_weather',
        description: 'of a city', parameters: { type: 'object', properties: {
            city: { type: 'string' } }, required: ['city'] } } }];
    const ask = [{ role: 'user', content: 'the weather' }];
    c = await client.chat.completions.stream({ model: 'agent', tools,
        messages: ask }).finalChatCompletion();
    const call = c.choices[0].message.tool_calls?.[0];
    same([c.choices[0].finish_reason, call?.function.name,
          call?.function.arguments], ['tool_calls', 'get_weather',
                                      '{"city":"Bern"}'],
         "openai: the client's tool is called");
    c = await client.chat.completions.create({ model: 'agent', tools,
        messages: [...ask, c.choices[0].message, { role: 'tool',
            tool_call_id: call.id, content: '21 degrees' }] });
    same(c.choices[0].message.content, 'It is mild.',
         'openai: and its result is used');
    const stop = new AbortController();
    const slow = await client.chat.completions.create({ model: 'agent',
        messages: [{ role: 'user', content: 'slow' }], stream: true },
        { signal: stop.signal });
    for await (const _ of slow)
        break;
    stop.abort();
    same((await until(r => r.ended)).status, 'canceled',
         'openai: a client that leaves cancels the run');
    let r = await client.responses.create({ model: 'agent', input: 'hi',
                                            instructions: 'Be brief.' });
    same([r.output_text, r.status, r.usage.total_tokens],
         ['Hello there.', 'completed', 10], 'openai: responses');
    r = await client.responses.create({ model: 'agent', input: 'the sum',
        previous_response_id: r.id });
    check(r.output_text.includes('It is 42.'), 'openai: the next response',
          JSON.stringify(r));
    const past = await api(`/v1/runs/${r.id.slice(5)}/context`);
    same(past.messages.filter(m => m.role === 'user').map(m => m.text),
         ['hi', 'the sum'], 'openai: which has the past of the one before');
    r = await client.responses.create({ model: 'agent', input: 'the weather',
        tools: tools.map(t => ({ type: 'function', ...t.function })) });
    const item = r.output.find(o => o.type === 'function_call');
    same([item?.name, item?.call_id], ['get_weather', 'w1'],
         "openai: the client's tool in a response");
    r = await client.responses.create({ model: 'agent',
        previous_response_id: r.id, input: [{ type: 'function_call_output',
            call_id: 'w1', output: '21 degrees' }] });
    same(r.output_text, 'It is mild.', 'openai: its result follows');
    const types = new Set();
    const events = client.responses.stream({ model: 'agent', input: 'hi' });
    for await (const e of events)
        types.add(e.type);
    check(types.has('response.output_text.delta') &&
          types.has('response.completed'), 'openai: responses, streamed',
          [...types]);
}

// ---- The AI SDK --------------------------------------------------------------

async function ai_sdk()
{
    const ai = await load('ai');
    const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
    const provider = createOpenAICompatible({ name: 'wend', apiKey: TOKEN,
                                              baseURL: `${url}/v1` });
    const { text } = await ai.generateText({ model: provider('agent'),
                                             prompt: 'hi' });
    same(text, 'Hello there.', 'ai: generateText');
    const transport = new ai.DefaultChatTransport({ api: `${url}/ui/agent`,
                                                    headers });
    const send = async (chatId, messages) => {
        let last;
        const stream = await transport.sendMessages({ chatId, messages,
            trigger: 'submit-message' });
        for await (const m of ai.readUIMessageStream({ stream,
                message: messages.at(-1).role === 'assistant' ?
                    structuredClone(messages.at(-1)) : undefined,
                onError: e => { throw e; } }))
            last = m;
        return last;
    };
    const user = text => ({ id: 'u' + text, role: 'user',
                            parts: [{ type: 'text', text }] });
    const said = m => m.parts.filter(p => p.type === 'text').map(p => p.text)
        .join('');
    const first = await send('c1', [user('the sum')]);
    check(said(first).includes('It is 42.'), 'ui: a message',
          JSON.stringify(first));
    const next = await send('c1', [user('the sum'), first, user('hi')]);
    same(said(next), 'Hello there.', 'ui: and the next one');
    const row = await newest();
    same([row.session, row.status], ['c1', 'ok'], 'ui: the chat is a session');
    const asked = await send('c2', [user('write')]);
    const tool = asked.parts.find(p => p.type === 'dynamic-tool');
    same(tool.state, 'approval-requested', 'ui: a call asks for approval');
    tool.state = 'approval-responded';
    tool.approval = { ...tool.approval, approved: true };
    const rest = await send('c2', [user('write'), asked]);
    same([said(rest), rest.parts.find(p => p.type === 'dynamic-tool').state],
         ['Written.', 'output-available'], 'ui: and runs when it is approved');
    const slow = await transport.sendMessages({ chatId: 'c3',
        messages: [user('slow')], trigger: 'submit-message' });
    await slow.getReader().read();
    await slow.cancel().catch(() => {});
    const again = await transport.reconnectToStream({ chatId: 'c3' });
    let m;
    for await (m of ai.readUIMessageStream({ stream: again }))
        ;
    same(said(m), 'one two three four five six seven',
         'ui: a client that left finds its stream again');
    same(await transport.reconnectToStream({ chatId: 'c3' }), null,
         'ui: and nothing once it is over');
}

// ---- AG-UI -------------------------------------------------------------------

async function ag_ui(name)
{
    const { HttpAgent } = await load(name);
    const play = async (agent, input = {}) => {
        const got = [];
        await agent.runAgent(input, { onEvent: ({ event }) => {
            got.push(event);
        } });
        return got;
    };
    const agent = new HttpAgent({ url: `${url}/ag-ui/agent`, headers,
                                  threadId: 't-' + name });
    const say = content => agent.addMessage({ id: String(Math.random()),
                                              role: 'user', content });
    say('the sum');
    let got = await play(agent);
    same([got[0].type, got.at(-1).type], ['RUN_STARTED', 'RUN_FINISHED'],
         `${name}: a run`);
    check(got.some(e => e.type === 'TOOL_CALL_RESULT' && e.content === '42'),
          `${name}: with its tools`, JSON.stringify(got));
    say('hi');
    got = await play(agent);
    same(agent.messages.at(-1).content, 'Hello there.',
         `${name}: and the next message`);
    const past = await api(`/v1/runs/${(await newest()).run}/context`);
    same(past.messages.filter(m => m.role === 'user').map(m => m.text),
         ['the sum', 'hi'], `${name}: with the past`);
    say('the weather');
    got = await play(agent, { tools: [{ name: 'get_weather', description: '',
        parameters: { type: 'object' } }] });
    check(got.some(e => e.type === 'TOOL_CALL_START' &&
                   e.toolCallName === 'get_weather') &&
          !got.some(e => e.type === 'TOOL_CALL_RESULT'),
          `${name}: a call of the page's tool`, JSON.stringify(got));
    agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'w1',
                       content: '21 degrees' });
    got = await play(agent);
    same(agent.messages.at(-1).content, 'It is mild.',
         `${name}: its result is used`);
    say('write');
    got = await play(agent);
    const outcome = got.at(-1).outcome;
    same(outcome?.type, 'interrupt', `${name}: an approval interrupts`);
    got = await play(agent, { resume: [{ status: 'resolved',
        interruptId: outcome.interrupts[0].id, payload: { approved: true } }] });
    same([got.at(-1).type, agent.messages.at(-1).content],
         ['RUN_FINISHED', 'Written.'], `${name}: and is resumed`);
}

try {
    await openai();
    await ai_sdk();
    await ag_ui('@ag-ui/client');
    await ag_ui('@ag-ui/client-0');
} catch (e) {
    check(false, 'no exception', `${e.stack}\n${said}`);
}
server.removeAllListeners('exit');
server.kill('SIGKILL');
console.log(`1..${checks}`);
process.exit(failed ? 1 : 0);
