// schema_suite.js - asks schema_driver the questions of the official test
// suite of JSON Schema: the required cases, not those in optional/.
//
// What the suite's remotes/ hold is not given: wend has no schema but those
// of the document and the metaschemas. A case is refused for that, or is
// answered as the suite says; all else is wrong. Those that were refused are
// asked again with the remote schemas put into the document, as a user would.
'use strict';

const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const [driver, suite, verbose] = process.argv.slice(2);
const HOST = 'http://localhost:1234/';
const REMOTE_REF = new RegExp(`leads out of the document, to '${HOST}` +
                              "([^'#]*)");
const REMOTE_DRAFT = new RegExp(`names no draft .*: '${HOST}`);
const CASES_MIN = 500; // of a draft: fewer are not the suite
const ROUNDS = 4; // remote schemas that lead to each other

// The drafts before 2019-09 name themselves nowhere in the suite.
const drafts = {
    'draft2020-12': null,
    'draft2019-09': null,
    draft7: 'http://json-schema.org/draft-07/schema#',
    draft6: 'http://json-schema.org/draft-06/schema#',
    draft4: 'http://json-schema.org/draft-04/schema#',
};

function named(schema, uri) {
    if (!uri || typeof schema !== 'object' || '$schema' in schema)
        return schema;
    return { $schema: uri, ...schema };
}

// The case with the remote schema that it was refused for in its document; or
// as it was, if that schema has a URI of its own or is a metaschema.
function bundled(c, draft) {
    const [, name] = c.compiled.match(REMOTE_REF) || [];
    const id = draft === 'draft4' ? 'id' : '$id';
    const file = path.join(suite, 'remotes', name || '');

    if (!name || !fs.existsSync(file))
        return c;
    const remote = named(JSON.parse(fs.readFileSync(file)), drafts[draft]);

    if ((remote[id] || HOST + name) !== HOST + name)
        return c;
    return { ...c, schema: { ...c.schema, definitions: {
        ...c.schema.definitions, [name]: { [id]: HOST + name, ...remote } } } };
}

function cases(draft) {
    const dir = path.join(suite, 'tests', draft);
    const all = [];

    for (const file of fs.readdirSync(dir).sort()) {
        if (!file.endsWith('.json'))
            continue;
        const groups = JSON.parse(fs.readFileSync(path.join(dir, file)));

        for (const group of groups)
            for (const test of group.tests)
                all.push({
                    name: `${draft}/${file}: ${group.description}: ` +
                        test.description,
                    schema: named(group.schema, drafts[draft]),
                    value: test.data,
                    wanted: test.valid ? 'yes' : 'no',
                });
    }
    return all;
}

function run(all) {
    const lines = all.flatMap(({ schema, value }) => [
        'S ' + JSON.stringify(schema), 'V ' + JSON.stringify(value)]);
    const ran = spawnSync(driver, { input: lines.join('\n') + '\n',
                                    maxBuffer: 1 << 28, encoding: 'utf8' });
    if (ran.error)
        throw ran.error;
    const answers = ran.stdout.split('\n');

    if (ran.status !== 0) {
        console.log(`# the driver failed: ${ran.stderr.slice(0, 2000)}`);
        process.exitCode = 1;
    }
    return all.map((one, i) => ({
        ...one,
        compiled: answers[2 * i] || 'nothing',
        got: (answers[2 * i + 1] || 'nothing').split(' ')[0],
    }));
}

const isRemote = (c) => c.got === 'refused' &&
    (REMOTE_REF.test(c.compiled) || REMOTE_DRAFT.test(c.compiled));
let n = 0;

for (const draft of Object.keys(drafts)) {
    const done = run(cases(draft));
    const right = done.filter((c) => c.got === c.wanted);
    const remote = done.filter(isRemote);
    const wrong = done.filter((c) => !right.includes(c) && !remote.includes(c));
    let again = remote;

    for (let round = 0; round < ROUNDS; round++)
        again = run(again.map((c) => bundled(c, draft)));
    const mended = again.filter((c) => c.got === c.wanted);

    wrong.push(...again.filter((c) => !mended.includes(c) && !isRemote(c)));
    for (const c of wrong)
        console.log(`# ${c.name}\n#   wanted ${c.wanted}, got ${c.got} ` +
                    `(${c.compiled})`);
    for (const c of verbose ? remote : [])
        console.log(`# ${c.name}\n#   ${c.compiled}`);
    const ok = !wrong.length && done.length >= CASES_MIN;

    console.log(`${ok ? 'ok' : 'not ok'} ${++n} - ${draft}: of ` +
                `${done.length} required cases ${right.length} are right, ` +
                `${remote.length} need the network (${mended.length} of them ` +
                'are right with the remote schemas inside), ' +
                `${wrong.length} are wrong`);
    if (!ok)
        process.exitCode = 1;
}
console.log(`1..${n}`);
