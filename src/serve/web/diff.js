/* diff.js - two runs side by side: turns aligned by number, calls by name and
 * arguments, equal ones folded, all bars on one scale. */
import {el, foreign, oneLine, badge, ms, count, cost, stateWord, BAD, runHref} from './text.js';
import {argsGist} from './talk.js';
import * as api from './api.js';
import {shell} from './main.js';

/* Turn (or plan) -> its model text and its calls in order. */
function turns(s) {
	const out = new Map();
	for (const p of s.spans) {
		if (!['model', 'call', 'action'].includes(p.kind)) continue;
		if (!out.has(p.turn)) out.set(p.turn, []);
		out.get(p.turn).push(p);
	}
	return out;
}

const sign = p => p.kind + '/' + p.name + '/' + (p.kind === 'model' ? '' : JSON.stringify(p.args));
const same = (a, b) => a && b && a.state === b.state && (a.kind === 'model' ? a.text === b.text :
	JSON.stringify(a.output) === JSON.stringify(b.output));

/* Pairs of spans: the same call first, then what only one side has. */
export function align(a, b) {
	const left = b.slice(), out = [];
	for (const p of a) {
		const i = left.findIndex(q => sign(q) === sign(p));
		out.push([p, i >= 0 ? left.splice(i, 1)[0] : null]);
	}
	for (const q of left) out.push([null, q]);
	return out;
}

function cell(p, s, scale, other) {
	if (!p) return el('div.cell.mute', '\u2013');
	const lane = el('i', {class: BAD.has(p.state) ? 'bad' : p.kind === 'model' ? 'f-1' : p.kind === 'call' ? 'f-2' : 'f-3'});
	lane.style.setProperty('--a', (p.t0 - s.t0) / scale);
	lane.style.setProperty('--w', ((p.t1 ?? s.time) - p.t0) / scale);
	const body = p.kind === 'model' ? p.text : typeof p.output === 'string' ? p.output : JSON.stringify(p.output ?? null);
	return el('div.cell' + (other ? '.other' : ''), el('div.line', badge(p.state, ''), el('b', foreign(oneLine(p.name, 40))),
		el('span.mute', foreign(argsGist(p.args, 60))), el('span.grow'), el('span.num.mute',
			p.state === 'ok' ? ms((p.t1 - p.t0) * 1000) : stateWord(p))),
	el('div.lane', lane), other ? foreign(oneLine(body, 300)) : '');
}

function head(s, id) {
	const m = s.metrics;
	return el('div.cell', el('h2', el('a', {href: runHref(id)}, foreign(oneLine(s.run?.prompt, 80)))),
		el('div', badge(s.status, stateWord({state: s.status, ...s})), ' ', el('span.mute',
			`${ms((s.time - s.t0) * 1000)}, ${m ? count(m.tokens_in + m.tokens_out) + ' tokens, ' + cost(m.cost) : ''}`)));
}

export async function open(main, [a, b]) {
	shell.crumbs(el('a', {href: '/'}, 'runs'), 'compare');
	shell.title('compare \u2013 wend');
	let s, t;
	try {
		[s, t] = (await Promise.all([api.load(a), api.load(b)])).map(l => l.state);
	} catch (e) {
		return void main.replaceChildren(el('p.empty', e.message));
	}
	const scale = Math.max(s.time - s.t0, t.time - t.t0, 0.001), x = turns(s), y = turns(t);
	const grid = el('div.diff', head(s, a), head(t, b));
	const shared = t.fork?.parent === a ? t.fork.at : s.fork?.parent === b ? s.fork.at : 0;
	if (shared) grid.append(el('p.both.mute', `The first ${shared} events are shared.`));
	for (const n of [...new Set([...x.keys(), ...y.keys()])].sort((p, q) => p - q)) {
		const pairs = align(x.get(n) ?? [], y.get(n) ?? []);
		const equal = pairs.filter(([p, q]) => same(p, q)), rest = pairs.filter(([p, q]) => !same(p, q));
		grid.append(el('div.both.turn-head', n < 0 ? 'plan' : 'turn ' + n));
		if (equal.length) grid.append(el('details.both', el('summary', `${equal.length} equal`),
			el('div.diff', ...equal.flatMap(([p, q]) => [cell(p, s, scale), cell(q, t, scale)]))));
		for (const [p, q] of rest) grid.append(cell(p, s, scale, true), cell(q, t, scale, true));
	}
	main.replaceChildren(grid);
}
