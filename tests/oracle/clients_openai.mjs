// clients_openai.mjs - Chat Completions and Responses by the client of the API,
// and by the AI SDK.
import { check, load, records, runs, same, serve, sse, warnings }
    from './clients_help.mjs';

const done = 'data: [DONE]\n\n';
const named = line => `event: ${JSON.parse(line).type}\n${sse(line)}`;
const json = 'application/json';
const messages = [{ role: 'user', content: 'go' }];

const calls = [1, 2].map(n => ({ id: `c${n}`, name: 'pick',
                                 arguments: '{"q":1}' }));

// run: [text of the stream, text of the answer, finish, calls]; or an error
const wanted = {
    text: ['Hello there.', 'Hello there.', 'stop'],
    thinking: ['So.', 'So.', 'stop'],
    tools: ['Look.\n\nThree.', 'Three.', 'stop'],
    failing: ['No.', 'No.', 'stop'],
    'ids again': ['Done.', 'Done.', 'stop'],
    denied: ['I may not.', 'I may not.', 'stop'],
    limit: ['', '', 'length'],
    failed: 'slow down',
    retried: ['Here I am.', 'Here I am.', 'stop'],
    dead: 'gone',
    canceled: 'the run was canceled',
    resumed: ['Once more.', 'Once more.', 'stop'],
    child: ['over', 'over', 'stop'],
    schema: ['{"a":1}', '{"a":1}', 'stop'],
    approved: ['May I?', 'May I?', 'stop'],
    client: ['Your turn.', 'Your turn.', 'tool_calls', calls],
    cut: ['too lo', 'too lo', 'length'],
    filtered: ['', '', 'content_filter'],
};

// ---- Chat ------------------------------------------------------------------

const open = (OpenAI, baseURL) =>
    new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });

const chat_result = c => ({
    text: c.choices[0].message.content ?? '',
    finish: c.choices[0].finish_reason,
    calls: (c.choices[0].message.tool_calls ?? []).map(t =>
        ({ id: t.id, ...t.function })).map(({ id, name, arguments: a }) =>
        ({ id, name, arguments: a })),
    thinking: c.choices[0].message.reasoning_content,
    usage: c.usage, model: c.model,
});

const chat_stream = (OpenAI, text) => serve(text, sse, done, async url => {
    const s = open(OpenAI, url).chat.completions.stream({ model: 'm', messages });
    return chat_result(await s.finalChatCompletion());
});

const chat_whole = (OpenAI, text) => serve(text, line => line, '', async url => {
    const c = await open(OpenAI, url).chat.completions.create({ model: 'm',
                                                                messages });
    return chat_result(c);
}, json, text.startsWith('{"error"') ? 500 : 200);

async function compare(title, play, want, at)
{
    let got;
    try {
        got = await play();
    } catch (e) {
        check(typeof want === 'string' && e.message.includes(want), title,
              e.stack);
        return undefined;
    }
    if (typeof want === 'string')
        check(false, title, `no error: ${JSON.stringify(got)}`);
    else
        same([got.text, got.finish, got.calls], [want[at], want[2],
             want[3] ?? []], title);
    return got;
}

async function chat(OpenAI)
{
    for (const [name, want] of Object.entries(wanted)) {
        const lines = runs[name];
        await compare(`openai chat, stream: ${name}`, () => chat_stream(OpenAI,
            records('openai-chat', lines)), want, 0);
        await compare(`openai chat, whole: ${name}`, () => chat_whole(OpenAI,
            records('openai-chat', lines, { whole: 1 })), want, 1);
    }
    const usage = { usage: 1, model: 'mine', run: 'R' };
    const got = await chat_stream(OpenAI, records('openai-chat', runs.client,
                                                  usage));
    same([got.model, got.usage.prompt_tokens, got.usage.total_tokens,
          got.usage.prompt_tokens_details.cached_tokens,
          got.usage.completion_tokens_details.reasoning_tokens],
         ['mine', 7, 12, 3, 2], 'openai chat: model and usage');
    same((await chat_whole(OpenAI, records('openai-chat', runs.thinking,
        { whole: 1 }))).thinking, 'let me see', 'openai chat: thinking');
}

// ---- Chat, by the AI SDK ---------------------------------------------------

async function sdk()
{
    const { streamText, jsonSchema, tool } = await load('ai');
    const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
    const tools = { pick: tool({ inputSchema: jsonSchema({ type: 'object' }) }) };
    const finishes = { tool_calls: 'tool-calls',
                       content_filter: 'content-filter' };
    for (const [name, want] of Object.entries(wanted)) {
        const title = `ai-sdk chat: ${name}`;
        const text = records('openai-chat', runs[name], { usage: 1 });
        const got = await serve(text, sse, done, async baseURL => {
            const model = createOpenAICompatible({ baseURL, name: 'wend',
                                                   includeUsage: true })('m');
            const errors = [];
            const r = streamText({ model, prompt: 'go', tools, maxRetries: 0,
                onError: ({ error }) => { errors.push(error); } });
            const parts = [];
            for await (const part of r.fullStream)
                parts.push(part);
            const end = parts.find(p => p.type === 'finish');
            const all = type => parts.filter(p => p.type === type);
            return { errors, finish: end?.finishReason, usage: end?.totalUsage,
                text: all('text-delta').map(p => p.text).join(''),
                thinking: all('reasoning-delta').map(p => p.text).join(''),
                calls: all('tool-call').map(p => ({ id: p.toolCallId,
                    name: p.toolName, arguments: JSON.stringify(p.input) })) };
        });
        if (typeof want === 'string') {
            check(JSON.stringify(got.errors).includes(want) || got.errors.some(
                e => String(e.message ?? e).includes(want)), title,
                JSON.stringify(got));
            continue;
        }
        same([got.text, got.finish, got.calls, got.errors.map(String)],
             [want[0], finishes[want[2]] ?? want[2], want[3] ?? [], []], title);
        if (name === 'thinking')
            same(got.thinking, 'let me see', `${title}: thinking`);
        if (name === 'client')
            same([got.usage.inputTokens, got.usage.outputTokens], [7, 5],
                 `${title}: usage`);
    }
}

// ---- Responses -------------------------------------------------------------

const response_result = r => ({
    text: r.output.filter(i => i.type === 'message')
        .map(i => i.content.map(c => c.text).join('')).join('\n\n'),
    calls: r.output.filter(i => i.type === 'function_call')
        .map(c => ({ id: c.call_id, name: c.name, arguments: c.arguments })),
    thinking: r.output.filter(i => i.type === 'reasoning')
        .map(i => i.summary.map(s => s.text).join('')).join('|'),
    status: r.status, error: r.error?.message, usage: r.usage,
    why: r.incomplete_details?.reason,
});

const statuses = { stop: 'completed', tool_calls: 'completed',
                   length: 'incomplete', content_filter: 'incomplete' };

function look(title, want, got)
{
    if (typeof want === 'string')
        same([got.status, got.error], ['failed', want], title);
    else
        same([got.text, got.status, got.calls, got.why], [want[0],
             statuses[want[2]], want[3] ?? [], { length: 'max_output_tokens',
             content_filter: 'content_filter' }[want[2]]], title);
}

async function responses(OpenAI)
{
    for (const [name, want] of Object.entries(wanted)) {
        let text = records('responses', runs[name]);
        const title = `openai responses: ${name}`;
        const [got, events] = await serve(text, named, '', async url => {
            const events = [];
            const s = open(OpenAI, url).responses.stream({ model: 'm',
                                                           input: 'go' });
            s.on('event', e => events.push(e));
            return [response_result(await s.finalResponse()), events];
        });
        look(title, want, got);
        same(events.map(e => e.sequence_number), events.map((e, i) => i),
             `${title}: numbers`);
        const deltas = events.filter(e => e.type ===
            'response.output_text.delta').map(e => e.delta).join('');
        check(typeof want === 'string' || deltas.length >=
              want[0].replaceAll('\n', '').length, `${title}: deltas`, deltas);
        text = records('responses', runs[name], { whole: 1 });
        look(`${title}, whole`, want, await serve(text, line => line, '',
            async url => response_result(await open(OpenAI, url).responses
                .create({ model: 'm', input: 'go' })), json));
    }
    const text = records('responses', runs.superseded);
    const got = await serve(text, named, '', async url => response_result(
        await open(OpenAI, url).responses.stream({ model: 'm', input: 'go' })
            .finalResponse()));
    same([got.text, got.thinking, got.usage.total_tokens], ['real', '', 12],
         'openai responses: what was superseded is not in the response');
}

export async function test()
{
    const { OpenAI } = await load('openai');
    await chat(OpenAI);
    await responses(OpenAI);
    const [, said] = await warnings(sdk);
    check(!said.length, 'ai-sdk chat: nothing to complain about',
          said.join('\n'));
}
