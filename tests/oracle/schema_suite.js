// schema_suite.js - asks schema_driver the questions of the official test
// suite of JSON Schema: the required cases, not those in optional/.
//
// What the suite's remotes/ hold is not given: wend has no schema but those
// of the document and the metaschemas. A case is refused for that, or is
// answered as the suite says; all else is wrong.
'use strict';

const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const [driver, suite, verbose] = process.argv.slice(2);
const REMOTE = new RegExp('(leads out of the document, to|' +
                          'names no draft .*:) \'http://localhost:1234/');

// The drafts before 2019-09 name themselves nowhere in the suite.
const drafts = {
    'draft2020-12': null,
    'draft2019-09': null,
    draft7: 'http://json-schema.org/draft-07/schema#',
    draft6: 'http://json-schema.org/draft-06/schema#',
    draft4: 'http://json-schema.org/draft-04/schema#',
};

// Beside a $ref, $schema would be of no effect: the $ref moves into allOf.
function named(schema, uri) {
    if (!uri || typeof schema !== 'object' || '$schema' in schema)
        return schema;
    return { $schema: uri, ...schema };
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
    const answers = ran.stdout.split('\n');

    if (ran.status !== 0)
        console.log(`# the driver failed: ${ran.stderr.slice(0, 2000)}`);
    return all.map((one, i) => ({
        ...one,
        compiled: answers[2 * i] || 'nothing',
        got: (answers[2 * i + 1] || 'nothing').split(' ')[0],
    }));
}

let failed = 0, n = 0;

for (const draft of Object.keys(drafts)) {
    const done = run(cases(draft));
    const right = done.filter((c) => c.got === c.wanted);
    const remote = done.filter((c) => c.got === 'refused' &&
                                      REMOTE.test(c.compiled));
    const wrong = done.filter((c) => !right.includes(c) && !remote.includes(c));

    for (const c of wrong)
        console.log(`# ${c.name}\n#   wanted ${c.wanted}, got ${c.got} ` +
                    `(${c.compiled})`);
    for (const c of verbose ? remote : [])
        console.log(`# ${c.name}\n#   ${c.compiled}`);
    console.log(`${wrong.length ? 'not ok' : 'ok'} ${++n} - ${draft}: of ` +
                `${done.length} required cases ${right.length} are right, ` +
                `${remote.length} need the network, ${wrong.length} are wrong`);
    failed += wrong.length;
}
console.log(`1..${n}`);
process.exit(failed ? 1 : 0);
