// schema_ajv.js - asks ajv about the pairs that schema_driver judged.
//
// Differences that are meant are listed in schema_ajv.sh.
'use strict';

const { spawnSync } = require('child_process');
const path = require('path');

const [driver, modules, seedText, roundsText] = process.argv.slice(2);
const load = (file) => require(path.resolve(modules, file));
const Ajv = load('ajv/dist/2020.js');
const ROUNDS = Number(roundsText);
const VALUES = 8;
const SPOILED_EVERY = 5;

let seed = Number(seedText) >>> 0;
function chance(below) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
}
const pick = (list) => list[chance(list.length)];
const times = (max, make) => Array.from({ length: chance(max + 1) }, make);

// ---- Values ----------------------------------------------------------------

const keys = ['a', 'b', 'c', 'ab', 'x1'];
const plain = [null, true, false, 0, 1, 2, 3, -1, 1.5, 0.5, 10, '', 'a', 'b',
               'ab', 'abc', 'x1', 'é', '😀😀', 'a\nb'];
const types = ['null', 'boolean', 'integer', 'number', 'string', 'array',
               'object'];
const patterns = ['^a', 'b$', '^.$', '\\d', '^\\w+$', '^[^a]*$', 'a|x', '^$',
                  '\\p{L}', '^(?=.*b)', '^(.)\\1$', '^x-?\\d?$', '\\s'];

function value(depth) {
    const kind = chance(depth < 3 ? 10 : 4);
    const object = {};

    if (kind < 4)
        return pick(plain);
    if (kind < 7)
        return times(4, () => value(depth + 1));
    for (let n = chance(5); n > 0; n--)
        object[pick(keys)] = value(depth + 1);
    return object;
}

// A value that has some chance to fit.
function valueFor(schema, depth) {
    let object;

    if (typeof schema === 'boolean' || depth > 4 || chance(6) === 0)
        return value(depth);
    if ('const' in schema)
        return schema.const;
    if (schema.enum && schema.enum.length)
        return pick(schema.enum);
    if (schema.properties || schema.required || schema.type === 'object') {
        object = {};
        for (const key of schema.required || [])
            object[key] = value(depth + 1);
        for (const key of Object.keys(schema.properties || {}))
            if (chance(3))
                object[key] = valueFor(schema.properties[key], depth + 1);
        if (chance(4) === 0)
            object[pick(keys)] = value(depth + 1);
        return object;
    }
    if (schema.items !== undefined || schema.prefixItems ||
        schema.type === 'array')
        return [...(schema.prefixItems || []),
                ...times(3, () => schema.items ?? true)].map(
            (item) => valueFor(item, depth + 1));
    for (const list of ['allOf', 'anyOf', 'oneOf'])
        if (schema[list])
            return valueFor(pick(schema[list]), depth + 1);
    if (schema.type)
        return pick(plain.filter((v) => (v === null ? 'null' : typeof v) ===
                                            schema.type.toString()).concat(1));
    return value(depth);
}

// ---- Schemas ---------------------------------------------------------------

const count = () => chance(4);
const number = () => pick([-1, 0, 0.5, 1, 1.5, 2, 3]);
const map = (make) => Object.fromEntries(
    times(3, () => pick(keys)).map((key) => [key, make()]));
const names = () => [...new Set(times(3, () => pick(keys)))];
const some = (make) => [make(), ...times(2, make)];

// A document has contains and if, or one of these.
let unevaluated = null;

// `at` is the $def from which a $ref may go on without a step into the value;
// `flat`: no more alternatives for the same value.
function makers(depth, at, flat) {
    const here = () => schema(depth + 1, at, unevaluated !== null);
    const inside = () => schema(depth + 1, 0, false);
    const bound = (name, make) => (s) => { s[name] = make(); };
    const again = (name, make) => (s) => { if (!flat) s[name] = make(); };
    const either = unevaluated === 'unevaluatedItems' ? () => () => {} : again;

    return [
        bound('type', () => chance(3) ? pick(types)
                                      : [...new Set(some(() => pick(types)))]),
        bound('properties', () => map(inside)),
        bound('properties', () => map(inside)),
        bound('required', names),
        bound('additionalProperties', inside),
        bound('patternProperties', () => Object.fromEntries(
            some(() => pick(patterns)).map((p) => [p, inside()]))),
        bound('propertyNames', () => ({ ...schema(9, 0, true), pattern:
                                            pick(patterns) })),
        bound('minProperties', count),
        bound('maxProperties', count),
        bound('items', inside),
        (s) => { if (!s.contains) s.prefixItems = some(inside); },
        (s) => {
            if (unevaluated || s.prefixItems)
                return;
            s.contains = inside();
            if (chance(2)) s.minContains = count();
            if (chance(2)) s.maxContains = count();
        },
        bound('minItems', count),
        bound('maxItems', count),
        bound('uniqueItems', () => chance(3) > 0),
        bound('enum', () => some(() => value(2))),
        bound('const', () => value(2)),
        either('anyOf', () => some(here)),
        either('oneOf', () => some(here)),
        again('allOf', () => some(here)),
        either('not', here),
        (s) => {
            if (unevaluated)
                return;
            s.if = here();
            if (chance(4)) s.then = here();
            if (chance(3)) s.else = here();
        },
        bound('dependentRequired', () => map(names)),
        either('dependentSchemas', () => map(here)),
        (s) => {
            if (at < 3 && !flat)
                s.$ref = pick(['#/$defs/d', '#d']) + (at + chance(3 - at));
        },
        bound('multipleOf', () => pick([1, 2, 3, 0.5, 0.25])),
        bound('minimum', number),
        bound('maximum', number),
        bound('exclusiveMinimum', number),
        bound('exclusiveMaximum', number),
        bound('minLength', count),
        bound('maxLength', count),
        bound('pattern', () => pick(patterns)),
        (s) => {
            if (unevaluated)
                s[unevaluated] = chance(2) ? inside() : false;
        },
        bound('format', () => 'email'),
    ];
}

function schema(depth, at, flat) {
    const made = {};

    if (depth > 4 || chance(8) === 0)
        return chance(3) ? { type: pick(types) } : chance(2) === 0;
    for (let n = 1 + chance(4); n > 0; n--)
        pick(makers(depth, at, flat))(made);
    return made;
}

function document() {
    unevaluated = pick([null, null, 'unevaluatedProperties',
                        'unevaluatedItems']);
    const root = schema(0, 0, false);
    const made = typeof root === 'boolean' ? { allOf: [root] } : root;

    made.$defs = {};
    for (let i = 0; i < 3; i++) {
        const one = schema(2, i + 1, unevaluated !== null);

        made.$defs[`d${i}`] = typeof one === 'boolean' ? { allOf: [one] } : one;
        made.$defs[`d${i}`].$anchor = `d${i}`;
    }
    return made;
}

// One keyword somewhere gets a value that it mostly cannot have.
function spoil(made) {
    const places = [];

    (function walk(s) {
        for (const key of Object.keys(s)) {
            if (['enum', 'const', '$anchor', 'format'].includes(key))
                continue;
            if (!['properties', '$defs', 'patternProperties', 'dependentSchemas',
                  'dependentRequired'].includes(key))
                places.push([s, key]);
            if (key === '$ref')
                continue;
            const below = s[key];
            for (const one of Array.isArray(below) ? below
                             : ['properties', '$defs', 'patternProperties',
                                'dependentSchemas'].includes(key)
                                 ? Object.values(below) : [below])
                if (one && typeof one === 'object' && !Array.isArray(one))
                    walk(one);
        }
    })(made);
    const [where, key] = pick(places);

    if (['items', 'exclusiveMinimum', 'exclusiveMaximum'].includes(key))
        return; // older drafts
    where[key] = key === '$ref'
                     ? pick(['#/$defs/no', '#no', 'https://example.com/x', 1])
                     : pick([null, -1, 1.5, 'no', '', [], [1], ['a'], {},
                             { type: 1 }, [{}], [true, 2]]);
}

// ---- Metaschemas -----------------------------------------------------------

const refs = 'ajv/dist/refs/json-schema-';
const vocabularies = {
    '2020-12': ['core', 'applicator', 'unevaluated', 'validation', 'meta-data',
                'format-annotation', 'content'],
    '2019-09': ['core', 'applicator', 'validation', 'meta-data', 'format',
                'content'],
};
const maps = ['properties', 'patternProperties', '$defs', 'definitions',
              'dependencies'];
const unchecked = ['title', 'description', 'default', 'format', 'deprecated',
                   '$comment', '$vocabulary'];

// What is left of a metaschema if only what can be checked counts.
function essence(s, key) {
    const made = {};

    if (Array.isArray(s))
        return s.map((one) => essence(one))
            .filter((one) => JSON.stringify(one) !== '{}');
    if (key === '$schema' || key === '$id' || key === 'id')
        return typeof s === 'string' ? s.replace(/#$/, '') : essence(s);
    if (s === null || typeof s !== 'object')
        return s;
    for (const name of Object.keys(s).sort()) {
        if (!maps.includes(key) && unchecked.includes(name))
            continue;
        const one = essence(s[name], maps.includes(key) ? undefined : name);

        if (name !== 'propertyNames' || JSON.stringify(one) !== '{}')
            made[name] = one;
    }
    return made;
}

function metaschemas() {
    const old = ['07', '06'].map((n) => load(`${refs}draft-${n}.json`));
    const oldest = load('ajv-draft-04/dist/refs/json-schema-draft-04.json');
    const list = [...old, oldest];

    for (const [draft, names] of Object.entries(vocabularies))
        list.push(load(`${refs}${draft}/schema.json`), ...names.map(
            (name) => load(`${refs}${draft}/meta/${name}.json`)));
    old[0].properties.enum = { type: 'array', items: true };
    old[0].properties.writeOnly = { type: 'boolean' };
    oldest.properties.format = { type: 'string' };
    return list;
}

function ask(lines) {
    const ran = spawnSync(driver, { input: lines.join('\n') + '\n',
                                    maxBuffer: 1 << 28, encoding: 'utf8' });

    return { ran, answers: ran.stdout.split('\n') };
}

// How many of them are not the same.
function compareMetaschemas() {
    const list = metaschemas();
    const { answers } = ask(list.map(
        (m) => 'M ' + (m.$id || m.id).replace(/#$/, '')));

    return list.filter((theirs, i) => {
        const wanted = JSON.stringify(essence(theirs));
        const got = answers[i].startsWith('{')
                        ? JSON.stringify(essence(JSON.parse(answers[i])))
                        : answers[i];

        if (got !== wanted)
            console.log(`# ajv has ${wanted}\n# here    ${got}`);
        return got !== wanted;
    }).length;
}

// ---- Both ------------------------------------------------------------------

function judge(validate, v) {
    try {
        return validate(v) ? 'yes' : 'no';
    } catch (error) {
        return error instanceof RangeError ? 'circle' : 'failed';
    }
}

const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
const rounds = [];
const lines = [];
const tally = { yes: 0, no: 0, circle: 0, failed: 0, refused: 0 };

for (let i = 0; i < ROUNDS; i++) {
    const made = document();
    let validate = null;

    if (i % SPOILED_EVERY === 0)
        spoil(made);
    try {
        validate = ajv.compile(made);
    } catch (error) {
        if (error instanceof RangeError)
            continue;
    }
    ajv.removeSchema(made);
    lines.push('S ' + JSON.stringify(made));
    rounds.push({ made, wanted: validate ? 'yes' : 'refused' });
    for (let n = 0; validate && n < VALUES; n++) {
        const v = valueFor(made, 0);

        lines.push('V ' + JSON.stringify(v));
        rounds.push({ made, v, wanted: judge(validate, v) });
    }
}

const { ran, answers } = ask(lines);
const strange = compareMetaschemas();
let wrong = 0, unused = null; // whose bad $ref ajv has not looked at

rounds.forEach(({ made, v, wanted }, i) => {
    const got = (answers[i] || 'nothing').split(' ')[0];

    if (wanted === 'yes' && / leads (out|to)/.test(answers[i]))
        unused = made;
    tally[wanted]++;
    if (got === wanted || made === unused || wanted === 'failed' ||
        (wanted === 'circle' && got === 'no') || wrong > 9)
        return;
    wrong++;
    console.log(`# schema ${JSON.stringify(made)}`);
    console.log(`# value ${JSON.stringify(v)}`);
    console.log(`# ajv says ${wanted}, here: ${answers[i]}`);
});
console.log(`# ${JSON.stringify(tally)}`);
console.log(`${ran.status === 0 ? 'ok' : 'not ok'} 1 - the driver ran` +
            (ran.status === 0 ? '' : `: ${ran.stderr}`));
console.log(`${wrong ? 'not ok' : 'ok'} 2 - same verdicts on ` +
            `${rounds.length} schemas and pairs`);
const balanced = ['yes', 'no', 'refused'].every((k) => tally[k] >= ROUNDS / 20);
console.log(`${balanced ? 'ok' : 'not ok'} 3 - enough of each verdict`);
console.log(`${strange ? 'not ok' : 'ok'} 4 - the metaschemas say the same`);
console.log('1..4');
process.exit(wrong || ran.status || !balanced || strange ? 1 : 0);
