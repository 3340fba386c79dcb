/* diff.js - two runs side by side: turns aligned by number, calls by name and
 * arguments, equal ones folded, all bars on one scale. */
import {el, css, foreign, oneLine, badge, ms, count, cost, stateWord, runHref, BAD} from './text.js';
import {argsGist} from './talk.js';
import * as api from './api.js';
import {shell} from './main.js';

const HUES = {model: 'f-1', call: 'f-2', action: 'f-3'};
const turns = s => Map.groupBy(s.spans.filter(p => HUES[p.kind]), p => p.turn);
const sign = p => [p.kind, p.name, p.kind === 'model' || JSON.stringify(p.args)].join();
const result = p => p.kind === 'model' ? p.text : JSON.stringify(p.output ?? null);
const same = ([a, b]) => a && b && a.state === b.state && result(a) === result(b);

/* Pairs of spans: the same call first, then what only one side has. */
export function align(a, b) {
	const left = b.slice(), out = a.map(p => {
		const i = left.findIndex(q => sign(q) === sign(p));
		return [p, i >= 0 ? left.splice(i, 1)[0] : null];
	});
	return [...out, ...left.map(q => [null, q])];
}

function cell(p, s, scale, other) {
	if (!p) return el('div.cell.mute', '\u2013');
	const lane = el('i', {class: BAD.has(p.state) ? 'bad' : HUES[p.kind]}), took = (p.t1 ?? s.time) - p.t0;
	css(lane, '--a', (p.t0 - s.t0) / scale);
	css(lane, '--w', took / scale);
	return el('div.cell', {class: other && 'other'}, el('div.line', badge(p.state, ''), el('b', foreign(oneLine(p.name, 40))),
		el('span.mute', foreign(argsGist(p.args, 60))), el('span.grow'), el('span.num.mute', p.state === 'ok' ? ms(took * 1000) : stateWord(p))),
	el('div.lane', lane), other && foreign(oneLine(result(p), 300)));
}

const head = (s, id) => el('div.cell', el('h2', el('a', {href: runHref(id)}, foreign(oneLine(s.run?.prompt, 80)))),
	badge(s.status, stateWord({...s, state: s.status})), el('span.mute', ` ${ms((s.time - s.t0) * 1000)}`, s.metrics &&
		`, ${count(s.metrics.tokens_in + s.metrics.tokens_out)} tokens, ${cost(s.metrics.cost)}`));

export async function open(main, [a, b]) {
	shell.crumbs(el('a', {href: '/'}, 'runs'), 'compare');
	shell.title('compare \u2013 wend');
	let s, t;
	try {
		[s, t] = (await Promise.all([api.load(a), api.load(b)])).map(l => l.state);
	} catch (e) {
		return void main.replaceChildren(el('p.empty', e.message));
	}
	const scale = Math.max(s.time - s.t0, t.time - t.t0, 0.001), x = turns(s), y = turns(t), grid = el('div.diff', head(s, a), head(t, b));
	const shared = t.fork?.parent === a ? t.fork.at : s.fork?.parent === b ? s.fork.at : 0;
	if (shared) grid.append(el('p.both.mute', `The first ${shared} events are shared.`));
	for (const n of [...new Set([...x.keys(), ...y.keys()])].sort((p, q) => p - q)) {
		const pairs = align(x.get(n) ?? [], y.get(n) ?? []), equal = pairs.filter(same);
		const put = (list, other) => list.flatMap(([p, q]) => [cell(p, s, scale, other), cell(q, t, scale, other)]);
		grid.append(el('div.both.turn-head', n < 0 ? 'plan' : 'turn ' + n), equal.length ? el('details.both',
			el('summary', `${equal.length} equal`), el('div.diff', ...put(equal))) : '', ...put(pairs.filter(p => !same(p)), true));
	}
	main.replaceChildren(grid);
}
