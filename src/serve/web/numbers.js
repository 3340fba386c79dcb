/* numbers.js - tokens, cost and latency by model call, and how this run compares
 * with others of its agent. Each plot has its table. */
import {el, svg, ms, count, cost, plain, when} from './text.js';
import * as api from './api.js';

const W = 640, H = 120;

const table = (heads, rows) => el('table.plain', el('thead', el('tr', ...heads.map(h => el(h ? 'th.num' : 'td', h && {scope: 'col'}, h)))),
	el('tbody', ...rows.slice(-500).map(r => el('tr', ...r.map(c => el('td.num', c))))));
const fold = (...args) => el('details', el('summary', 'Table'), table(...args));
const text = (x, y, t) => svg('text', {x, y, class: 't-mute'}, t);
const frame = (most, ...kids) => el('div.pic', svg('svg', {width: W + 60, height: H + 20, 'aria-hidden': 'true'},
	svg('path', {class: 'rule', d: `M0 ${H}.5h${W}`}), ...kids, text(W + 4, 12, most)));
const key = list => el('ul.key', ...list.map(([c, t]) => el('li', el('i', {class: c}), t)));
const plot = (title, ...kids) => el('section.plot', el('h3', title), ...kids);

function bars(rows, unit) {
	const most = Math.max(1e-9, ...rows.map(r => r.reduce((a, [v]) => a + v, 0))), w = Math.min(32, W / rows.length);
	return frame(unit(most), ...rows.flatMap((r, i) => {
		let y = H;
		return r.map(([v, c]) => {
			const h = v / most * (H - 8);
			return svg('rect', {class: c, x: i * w, y: y -= h, width: Math.max(1, w - 1), height: h});
		});
	}), text(0, H + 14, 0), text(Math.max(12, (rows.length - 1) * w), H + 14, rows.length - 1));
}

function dots(sets, unit) {
	const most = Math.max(1, ...sets.flatMap(([list]) => list));
	return frame(unit(most), ...sets.flatMap(([list, c]) => list.map((v, i) => v > 0 ? svg('circle',
		{class: c, r: 3, cx: 6 + i * Math.min(32, (W - 12) / list.length), cy: H - v / most * (H - 10)}) : '')));
}

export class View {
	constructor(ctx) {
		Object.assign(this, {ctx, runs: el('div'), node: el('div.scroll', {tabindex: 0})});
	}

	update(state, force) {
		const list = state.spans.filter(p => p.kind === 'model' && p.usage), u = list.map(p => p.usage), took = list.map(p => p.ms);
		if (list.length === this.n && !force) return;
		this.n = list.length;
		if (!list.length) return this.node.replaceChildren(el('p.mute', 'No answer of a model yet.'));
		const first = list.map(p => p.first ? (p.first - p.t0) * 1000 : 0);
		this.node.replaceChildren(u.some(x => x.input + x.output) ? plot('Tokens by model call',
			key([['f-5', 'in, cached'], ['f-1', 'in'], ['f-3', 'thinking'], ['f-2', 'out']]),
			bars(u.map(x => [[x.cached, 'f-5'], [x.input - x.cached, 'f-1'], [x.reasoning, 'f-3'],
				[Math.max(0, x.output - x.reasoning), 'f-2']]), count),
			fold(['#', 'in', 'cached', 'out', 'thinking'], u.map((x, i) => [i, x.input, x.cached, x.output, x.reasoning]))) :
			el('p.mute', 'The model reported no tokens.'),
		u.every(x => x.cost != null) ? plot('Cost by model call', bars(u.map(x => [[x.cost, 'f-1']]), cost),
			fold(['#', 'USD'], u.map((x, i) => [i, x.cost]))) : el('p.mute', 'Cost unknown: no price for this model.'),
		plot('Latency by model call', key([['f-1', 'whole'], ['f-2', 'first token']]), dots([[took, 'f-1'], [first, 'f-2']], ms),
			fold(['#', 'started', 'first token', 'whole'], list.map((p, i) => [i, when(p.t0, state.t0), ms(first[i]), ms(took[i])]))),
		this.runs);
		this.asked ??= this.others(state.run.agent);
	}

	async others(agent) {
		const over = (await api.ask('/v1/runs?limit=200&agent=' + encodeURIComponent(agent))).runs.filter(r => r.ended);
		const line = (name, f, show) => {
			const l = over.map(f).filter(v => v > 0).sort((a, b) => a - b), q = p => l.length ? show(l[Math.floor((l.length - 1) * p)]) : '\u2013';
			return [name, q(0.5), q(0.95), l.length];
		};
		this.runs.replaceChildren(plot(`The last ${over.length} runs of ${plain(agent, 40)}`, table(['', 'p50', 'p95', 'runs'],
			[line('Time', r => (r.ended - r.started) * 1000, ms), line('Tokens', r => r.tokens_in + r.tokens_out, count),
				line('Cost', r => r.cost ?? 0, cost)])));
	}
}
