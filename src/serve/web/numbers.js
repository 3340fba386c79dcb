/* numbers.js - tokens, cost and latency by turn, and how this run compares with
 * others of its agent. Each plot has its table. */
import {el, svg, ms, count, cost, plain, when} from './text.js';
import * as api from './api.js';

const W = 640, H = 120;

function table(heads, rows) {
	return el('details', el('summary', 'Table'), el('table.plain',
		el('thead', el('tr', ...heads.map(h => el('th.num', {scope: 'col'}, h)))),
		el('tbody', ...rows.slice(-500).map(r => el('tr', ...r.map(c => el('td.num', String(c))))))));
}

const frame = (...kids) => el('div.pic', svg('svg', {viewBox: `0 0 ${W + 60} ${H + 20}`,
	width: W + 60, height: H + 20, role: 'img'}, svg('path', {class: 'rule', d: `M0 ${H}.5h${W}`}), ...kids));
const text = (x, y, t) => {
	const e = svg('text', {x, y, class: 't-mute'});
	e.textContent = t;
	return e;
};

/* Stacked bars; `rows` are lists of [value, class]. */
function bars(rows, unit) {
	const most = Math.max(1, ...rows.map(r => r.reduce((a, [v]) => a + v, 0)));
	const w = Math.min(32, W / rows.length), out = [];
	rows.forEach((r, i) => {
		let y = H;
		for (const [v, c] of r) {
			const h = v / most * (H - 8);
			y -= h;
			if (h > 0) out.push(svg('rect', {class: c, x: i * w, y, width: Math.max(1, w - 1), height: h}));
		}
	});
	return frame(...out, text(W + 4, 12, unit(most)), text(0, H + 14, '0'),
		text(Math.max(12, (rows.length - 1) * w), H + 14, String(rows.length - 1)));
}

function dots(sets, unit) {
	const all = sets.flatMap(([list]) => list.filter(v => v > 0));
	const most = Math.max(1, ...all), n = Math.max(1, ...sets.map(([l]) => l.length));
	return frame(...sets.flatMap(([list, c]) => list.map((v, i) => v > 0 ? svg('circle',
		{class: c, r: 3, cx: 6 + i * Math.min(32, (W - 12) / n), cy: H - v / most * (H - 10)}) : '')),
	text(W + 4, 12, unit(most)));
}

const key = (...list) => el('ul.key', ...list.map(([c, t]) => el('li', el('i', {class: c}), t)));
const plot = (title, ...kids) => el('section.plot', el('h3', title), ...kids);
const q = (list, p) => list.length ? list[Math.min(list.length - 1, Math.floor(list.length * p))] : 0;

export class View {
	constructor(ctx) {
		this.ctx = ctx;
		this.runs = el('div');
		this.node = el('div.scroll', {tabindex: '0'});
	}

	update(state, force) {
		const list = state.spans.filter(p => p.kind === 'model' && p.usage);
		if (list.length === this.n && !force) return;
		this.n = list.length;
		if (!list.length) return void this.node.replaceChildren(el('p.mute', 'No answer of a model yet.'));
		const u = list.map(p => p.usage), some = u.some(x => x.input + x.output);
		const first = list.map(p => p.first ? (p.first - p.t0) * 1000 : 0), took = list.map(p => p.ms);
		const paid = u.every(x => x.cost != null);
		this.node.replaceChildren(
			some ? plot('Tokens by model call', key(['f-5', 'in, cached'], ['f-1', 'in'], ['f-3', 'thinking'],
				['f-2', 'out']), bars(u.map(x => [[x.cached, 'f-5'], [x.input - x.cached, 'f-1'],
				[x.reasoning, 'f-3'], [Math.max(0, x.output - x.reasoning), 'f-2']]), count),
			table(['#', 'in', 'cached', 'out', 'thinking'], u.map((x, i) => [i, x.input, x.cached, x.output, x.reasoning])))
				: el('p.mute', 'The model reported no tokens.'),
			paid ? plot('Cost by model call', bars(u.map(x => [[x.cost, 'f-1']]), cost),
				table(['#', 'USD'], u.map((x, i) => [i, x.cost]))) : el('p.mute', 'Cost unknown: no price for this model.'),
			plot('Latency by model call', key(['f-1', 'whole'], ['f-2', 'first token']),
				dots([[took, 'f-1'], [first, 'f-2']], ms), table(['#', 'started', 'first token', 'whole'],
					list.map((p, i) => [i, when(p.t0, state.t0), ms(first[i]), ms(took[i])]))), this.runs);
		if (!this.asked) { this.asked = true; this.others(state); }
	}

	async others(state) {
		const got = await api.ask('/v1/runs?limit=200&agent=' + encodeURIComponent(state.run.agent));
		const over = got.runs.filter(r => r.ended);
		const line = (name, f, show) => {
			const l = over.map(f).filter(v => v > 0).sort((a, b) => a - b);
			return el('tr', el('th', {scope: 'row'}, name), el('td.num', l.length ? show(q(l, 0.5)) : '\u2013'),
				el('td.num', l.length ? show(q(l, 0.95)) : '\u2013'), el('td.num', String(l.length)));
		};
		this.runs.replaceChildren(plot(`The last ${over.length} runs of ${plain(state.run.agent, 40)}`,
			el('table.plain', el('thead', el('tr', ...['', 'p50', 'p95', 'runs'].map(h => el('th.num', h)))),
				el('tbody', line('Time', r => (r.ended - r.started) * 1000, ms),
					line('Tokens', r => r.tokens_in + r.tokens_out, count), line('Cost', r => r.cost ?? 0, cost)))));
	}
}
