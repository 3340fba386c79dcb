// mcp_client.mjs WEND URL - a client for the conformance suite: wend, told
// by a scripted model to call what the scenario names, or every tool.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [wend, url] = process.argv.slice(2);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}');
const home = mkdtempSync(join(tmpdir(), 'wend-mcp-'));
const env = { ...process.env, HOME: home, WEND_STORE: 'memory:' };
const server = ['--mcp', `c=${url}`];

function run(...args)
{
    const r = spawnSync(wend, args, { env, encoding: 'utf8' });
    process.stderr.write(r.stderr);
    return r.stdout;
}

const tools = run('tools', '--json', ...server).split('\n').filter(Boolean)
    .map(line => JSON.parse(line));
const preserved = tools.find(t => t.name === 'c.json_schema_2020_12_tool');

// Something that fits; a tool that wants a schema gets one back.
function example(schema, key)
{
    if (key === 'schema' && preserved)
        return preserved.schema;
    switch (schema.type) {
    case 'string': return schema.enum ? schema.enum[0] : 'x';
    case 'integer':
    case 'number': return 3;
    case 'boolean': return true;
    case 'array': return [];
    }
    return Object.fromEntries(Object.entries(schema.properties || {})
        .map(([k, s]) => [k, example(s, k)]));
}

// wend checks arguments by the schema: null for a boolean goes no further.
function without_nulls(args)
{
    return Object.fromEntries(Object.entries(args || {})
        .filter(([, v]) => v !== null));
}

const calls = context.toolCalls ?
    context.toolCalls.map(c => ({ name: `c.${c.name}`,
                                  args: without_nulls(c.arguments) })) :
    tools.filter(t => t !== preserved)
        .map(t => ({ name: t.name, args: example(t.schema) }));

process.stderr.write(run('run', '--json', '--approve', 'all', '-m',
    'script:' + JSON.stringify({ turns: [{ calls }, { text: 'over' }] }),
    ...server, 'go').split('\n').filter(l => l.includes('"call_end"'))
    .join('\n'));
rmSync(home, { recursive: true });
