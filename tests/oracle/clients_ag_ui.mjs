// clients_ag_ui.mjs - AG-UI by its own client, the first and the last version
// that wend speaks to.
import { check, command, load, records, rest, runs, same, serve, sse, warnings }
    from './clients_help.mjs';

// The events that reach a host of the client, and what it came to.
async function play(client, text)
{
    return serve(text, sse, '', async url => {
        const agent = new client.HttpAgent({ url, threadId: 's1' });
        const got = [];
        let error;
        try {
            await agent.runAgent({}, {
                onEvent: ({ event }) => { got.push(event); },
                onRunFailed: e => { error = e.error; },
            });
        } catch (e) {
            error = e;
        }
        return { got, error, messages: agent.messages };
    });
}

const types = text => text.split('\n').filter(Boolean)
    .map(line => JSON.parse(line).type);

// What must be there, after RUN_STARTED and before the last.
const wanted = {
    text: [/^RUN_STARTED STEP_STARTED TEXT_MESSAGE_START (TEXT_MESSAGE_CONTENT )+TEXT_MESSAGE_END STEP_FINISHED RUN_FINISHED$/],
    thinking: [/REASONING_START REASONING_MESSAGE_START (REASONING_MESSAGE_CONTENT )+REASONING_MESSAGE_END REASONING_END TEXT_MESSAGE_START/],
    tools: [/TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END.*TOOL_CALL_START.*TOOL_CALL_RESULT.*STEP_FINISHED STEP_STARTED/],
    failed: [/CUSTOM CUSTOM .*RUN_ERROR$/],
    dead: [/TEXT_MESSAGE_CONTENT .*RUN_ERROR$/],
    plan: [/^RUN_STARTED (CUSTOM )+TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED$/],
    approved: [/TOOL_CALL_END CUSTOM CUSTOM TOOL_CALL_RESULT/],
    superseded: [/TEXT_MESSAGE_END CUSTOM TEXT_MESSAGE_START/],
};

function look(name, version, { got, error, messages }, text, said)
{
    const line = got.map(e => e.type).join(' ');
    const title = `ag-ui ${version}: ${name}`;
    check(!error, `${title}: no error`, `${error?.stack}\n${line}`);
    same(got.map(e => e.type), types(text), `${title}: all events arrive`);
    for (const want of wanted[name] ?? [])
        check(want.test(line), `${title}: their order`, line);
    check(!said.length, `${title}: nothing to complain about`, said.join('\n'));
    const ids = messages.map(m => m.id);
    same(ids.length, new Set(ids).size, `${title}: each message once`);
    const calls = messages.flatMap(m => m.toolCalls ?? []).map(c => c.id);
    same(calls.length, new Set(calls).size, `${title}: each call once`);
}

const text_of = messages => messages.filter(m => m.role === 'assistant')
    .map(m => m.content ?? '').join('|');

async function outcomes(client, version)
{
    const last = async (name, settings = {}) => {
        const text = records('ag-ui', runs[name], { ...settings,
            ...version && { version } });
        const { got, messages } = await play(client, text);
        return { ...got.at(-1), messages, got };
    };
    const is = (got, want, name) =>
        same(got, want, `ag-ui ${version ?? '0.x'}: ${name}`);
    let e = await last('text', { thread: 'T', run: 'R' });
    is([e.threadId, e.runId, e.outcome, e.usage[0].inputTokens,
        e.usage[0].totalTokens], ['T', 'R', { type: 'success' }, 7, 10],
       'ids, outcome and usage');
    is(text_of(e.messages), 'Hello there.', 'the text');
    e = await last('canceled');
    is(e.outcome, version ? { type: 'cancelled' } : undefined, 'canceled');
    e = await last('limit');
    is([e.outcome, e.result], [{ type: 'success' },
                               { outcome: 'limit', limit: 'turns' }], 'limit');
    e = await last('failed');
    is([e.type, e.code, e.message], ['RUN_ERROR', 'rate_limit', 'slow down'],
       'failed');
    e = await last('schema');
    is(text_of(e.messages), '{"a":1}', 'an answer that was repaired');
    e = await last('tools');
    is(e.messages.map(m => m.role), ['assistant', 'tool', 'tool', 'assistant'],
       'calls are part of their message');
    is(e.messages[0].toolCalls.map(c => c.function.arguments),
       ['{"expression":"1+2"}', '{"expression":"1+2"}'], 'arguments');
    e = await last('client');
    is(e.outcome, { type: 'success',
        ...version && { pendingToolCallIds: ['c1', 'c2'] } }, 'pending calls');
    is(e.got.some(x => x.type === 'TOOL_CALL_RESULT'), false,
       'pending calls have no result');
    e = await last('child');
    is(e.got.map(x => x.type).filter(t => t.startsWith('SUB')), version ?
       ['SUBAGENT_STARTED', 'SUBAGENT_FINISHED'] : [], 'children');
}

// The stream ends for an approval; the answer begins another one.
async function interrupts(client, version)
{
    const settings = { interrupt: 1, ...version && { version } };
    const [first, rest] = records('ag-ui', runs.approved, settings)
        .split('\n\n');
    const a = await play(client, first), b = await play(client, rest);
    const title = `ag-ui ${version ?? '0.x'}: interrupt`;
    check(!a.error && !b.error, title, `${a.error?.stack} ${b.error?.stack}`);
    same(a.got.at(-1).outcome, { type: 'interrupt', interrupts: [{ id: 'c1',
        reason: 'approval', message: 'it removes', toolCallId: 'c1' }] },
        `${title}: what it waits for`);
    same(b.got.map(e => e.type).join(' '), 'RUN_STARTED STEP_STARTED CUSTOM ' +
        'TOOL_CALL_RESULT STEP_FINISHED RUN_FINISHED', `${title}: then`);
}

export async function test()
{
    for (const [name, version] of [['@ag-ui/client', '1.0'],
                                   ['@ag-ui/client-0', undefined],
                                   ['@ag-ui/client', undefined]]) {
        const client = await load(name);
        const title = name + (version ? ` as ${version}` : '');
        for (const [run, lines] of Object.entries(runs)) {
            const text = records('ag-ui', lines, version ? { version } : {});
            const [result, said] = await warnings(() => play(client, text));
            look(run, title, result, text, said);
        }
        await outcomes(client, version);
        await interrupts(client, version);
    }
    const log = command('log', '--events', 'ag-ui',
                        JSON.parse(runs.tools.split('\n')[0]).run);
    same(log, records('ag-ui', runs.tools), 'wend log --events ag-ui');
    // A reader who comes late has a stream of its own.
    for (const [name, late] of [['from the middle', records('ag-ui',
            runs.tools, { from: 12 })], ['wend resume', rest]]) {
        const { got, error } = await play(await load('@ag-ui/client'), late);
        check(!error, `ag-ui: ${name}`, `${error}\n${late}`);
        same([got[0].type, got.at(-1).type], ['RUN_STARTED', 'RUN_FINISHED'],
             `ag-ui: ${name}: from start to end`);
    }
}
