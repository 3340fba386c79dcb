// clients_ui.mjs - the UI message stream by the AI SDK that made it.
import { check, load, records, runs, same, serve, sse } from
    './clients_help.mjs';

let ai;

// The chunks, the message that they make, and what went wrong.
async function play(text, message)
{
    return serve(text, sse, 'data: [DONE]\n\n', async api => {
        const chunks = [], errors = [], asked = [];
        const transport = new ai.DefaultChatTransport({ api });
        const source = await transport.sendMessages({ chatId: 'c',
            messages: [], trigger: 'submit-message' });
        const [a, b] = source.tee();
        let last;
        const reading = (async () => {
            for await (const chunk of a)
                chunks.push(chunk);
        })();
        for await (const m of ai.readUIMessageStream({ stream: b, message,
                onError: e => errors.push(String(e.message ?? e)) }))
            last = m;
        await reading;
        return { chunks, errors, asked, message: last };
    });
}

const text_of = message => message.parts.filter(p => p.type === 'text')
    .map(p => p.text).join('|');
const tools_of = message => message.parts.filter(p => p.type ===
    'dynamic-tool').map(p => [p.toolCallId, p.state, !!p.providerExecuted]);

// run: [text, tools, finishReason]
const wanted = {
    text: ['Hello there.', [], 'stop'],
    thinking: ['So.', [], 'stop'],
    tools: ['Look.|Three.', [['call_1', 'output-available', true],
                             ['call_2', 'output-available', true]], 'stop'],
    failing: ['No.', [['call_1', 'output-error', true]], 'stop'],
    'ids again': ['Done.', [['x', 'output-available', true],
                            ['x_t2', 'output-available', true]], 'stop'],
    'bad arguments': ['.', [['call_1', 'output-error', true]], 'stop'],
    denied: ['I may not.', [['call_1', 'output-denied', true]], 'stop'],
    limit: ['', [['call_1', 'output-available', true]], 'length'],
    failed: ['', [], 'error', ['slow down']],
    retried: ['Here I am.', [], 'stop'],
    dead: ['Half an ', [], 'error', ['gone']],
    resumed: ['Once more.', [], 'stop'],
    child: ['over', [['call_1', 'output-available', true]], 'stop'],
    schema: ['{"a":1}', [], 'stop'],
    approved: ['May I?', [['c1', 'output-available', true]], 'stop'],
    superseded: ['real', [], 'stop'],
    'attempts of a call': ['', [['c1', 'output-available', true]], 'stop'],
    client: ['Your turn.', [['c1', 'input-available', false],
                            ['c2', 'input-available', false]], 'tool-calls'],
    cut: ['too lo', [], 'length'],
    filtered: ['', [], 'content-filter'],
};

export async function test()
{
    ai = await load('ai');
    for (const [name, [text, tools, finish, errors]] of
         Object.entries(wanted)) {
        const got = await play(records('ui', runs[name], { run: 'M' }));
        const message = got.message ?? { parts: [] };
        same([text_of(message), tools_of(message), got.errors],
             [text, tools, errors ?? []], `ui: ${name}`);
        same([got.chunks[0].messageId, got.chunks.at(-1).finishReason],
             ['M', finish], `ui: ${name}: start and finish`);
    }
    let got = await play(records('ui', runs.canceled));
    same([got.chunks.at(-1).type, got.errors], ['abort', []], 'ui: canceled');
    got = await play(records('ui', runs.thinking));
    same(got.message.parts.find(p => p.type === 'reasoning').text,
         'let me see', 'ui: reasoning');
    same(got.message.parts.every(p => !p.state || p.state === 'done'), true,
         'ui: all parts are done');
    got = await play(records('ui', runs.plan));
    same(got.message.parts.filter(p => p.type === 'data-action').map(p =>
        [p.id, p.data.status]), [['a', 'ok'], ['b', 'ok']], 'ui: actions');
    check(text_of(got.message).includes('2'), 'ui: the outputs of a plan',
          JSON.stringify(got.message));

    // The stream ends for an approval; the answer continues the message.
    const [first, rest] = records('ui', runs.approved, { interrupt: 1,
                                                         run: 'M' })
        .split('\n\n');
    const a = await play(first);
    same([tools_of(a.message), a.chunks.at(-1).finishReason],
         [[['c1', 'approval-requested', true]], 'tool-calls'],
         'ui: the stream ends for an approval');
    const b = await play(rest, a.message);
    same([tools_of(b.message), b.errors, b.message.id],
         [[['c1', 'output-available', true]], [], 'M'],
         'ui: and the rest continues the message');
    const late = await play(records('ui', runs.tools, { from: 12 }));
    same([late.errors, text_of(late.message)], [[], 'Three.'],
         'ui: from the middle');
}
