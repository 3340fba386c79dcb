/* graph.js - plans as boxes by wave, and the family of a run: a column for each
 * branch, with the event at which it left its parent. */
import {el, svg, oneLine, ms, plain, stateWord, MARKS, BAD, runHref, on} from './text.js';
import {critical} from './axis.js';
import * as api from './api.js';

const BW = 156, BH = 40, GX = 44, GY = 14;

const label = (x, y, text, cls) => {
	const t = svg('text', {x, y, class: cls || ''});
	t.textContent = text;
	return t;
};

/* What fits into a box: about 7 pixels a character. */
const fit = (s, px) => oneLine(s, Math.max(3, Math.floor(px / 7)));

/* Actions [{id, name, type, depends_on, wave, state?, ms?, critical?}]. */
export function dag(actions, pick) {
	const waves = new Map(), at = new Map();
	for (const a of actions) {
		const w = a.wave || 1;
		if (!waves.has(w)) waves.set(w, []);
		waves.get(w).push(a);
	}
	const cols = [...waves.keys()].sort((a, b) => a - b), kids = [];
	cols.forEach((w, c) => waves.get(w).forEach((a, r) => at.set(a.id,
		{x: 16 + c * (BW + GX), y: 28 + r * (BH + GY)})));
	cols.forEach((w, c) => kids.push(label(16 + c * (BW + GX), 16, 'wave ' + w, 't-mute')));
	for (const a of actions) for (const d of a.depends_on ?? []) {
		const p = at.get(d), q = at.get(a.id);
		if (!p) continue;
		const x = p.x + BW, m = (q.x + x) / 2, crit = a.critical &&
			actions.find(z => z.id === d)?.critical;
		kids.push(svg('path', {class: 'edge' + (crit ? ' crit' : ''), d:
			`M${x} ${p.y + BH / 2}C${m} ${p.y + BH / 2} ${m} ${q.y + BH / 2} ${q.x} ${q.y + BH / 2}`}));
	}
	for (const a of actions) kids.push(box(a, at.get(a.id), pick));
	const rows = Math.max(1, ...cols.map(w => waves.get(w).length));
	const w = 32 + cols.length * (BW + GX), h = 44 + rows * (BH + GY);
	return svg('svg', {width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: 'img',
		'aria-label': `${actions.length} actions in ${cols.length} waves`}, ...kids);
}

function box(a, {x, y}, pick) {
	const s = a.state, title = svg('title', {});
	title.textContent = `${plain(a.name, 200)}, ${plain(a.type ?? '', 20)}${s ? ', ' + stateWord(a) : ''}`;
	const g = svg('g', {transform: `translate(${x} ${y})`, class: 's-' + (s ?? '')}, title,
		svg('rect', {class: 'box' + (s === 'skipped' ? ' skip' : BAD.has(s) ? ' bad' :
			s === 'running' ? ' now' : ''), width: BW, height: BH, rx: 4}),
		label(10, 16, fit(a.name, BW - 34)), label(10, 32, fit([a.type, s && s !== 'ok' ?
			stateWord(a) : a.ms != null ? ms(a.ms) : a.estimate_ms ? '~' + ms(a.estimate_ms) : '']
			.filter(Boolean).join(', '), BW - 20), 't-mute'));
	if (a.critical) g.append(svg('rect', {class: 'bar-crit', y: BH, width: BW, height: 2}));
	if (s && MARKS[s]) g.append(svg('g', {class: 'm s-' + s, transform: `translate(${BW - 20} 8)`},
		svg('path', {d: MARKS[s]})));
	if (pick) on(g, 'click', () => pick(a));
	return g;
}

/* The actions of a run with their states. */
export function actionsOf(state) {
	const path = critical(state).path, spans = new Map();
	for (const p of state.spans) if (p.kind === 'action') spans.set(p.key, p);
	return [...state.deps.values()].map(a => {
		const p = spans.get(a.id);
		return {...a, state: p?.state, ms: p?.ms, error: p?.error, reason: p?.reason,
			span: p?.i, critical: p ? path.has(p.i) : false};
	});
}

export class View {
	constructor(ctx) {
		this.ctx = ctx;
		this.plan = el('div');
		this.family = el('div');
		this.node = el('div.pic', {tabindex: '0'}, this.plan, this.family);
	}

	update(state, force) {
		if (this.seq === state.seq && !force) return;
		this.seq = state.seq;
		if (state.deps.size) this.plan.replaceChildren(dag(actionsOf(state), a =>
			a.span >= 0 && this.ctx.select({span: a.span})));
		if (!this.asked || (state.outcome && this.asked !== 2)) {
			this.asked = state.outcome ? 2 : 1;
			this.relatives();
		}
	}

	async relatives() {
		const {runs} = await api.ask('/v1/runs?limit=500'), all = new Map(runs.map(r => [r.run, r]));
		const id = this.ctx.id, fork = this.ctx.log.state.fork;
		if (fork && all.has(id)) all.set(id, {...all.get(id), fork_of: fork.parent, at: fork.at});
		const up = r => all.get(r?.fork_of) ?? all.get(r?.parent);
		let root = all.get(id), n = 0;
		while (up(root) && n++ < 50) root = up(root);
		if (!root) return;
		const rows = [], walk = (r, col) => {
			if (rows.length > 200) return;
			rows.push({r, col});
			[...all.values()].filter(k => (k.fork_of ?? k.parent) === r.run && k.run !== r.run)
				.sort((a, b) => a.started - b.started).forEach(k => walk(k, col + 1));
		};
		walk(root, 0);
		if (rows.length < 2) return void (this.ctx.state.deps.size || this.family.replaceChildren(
			el('p.scroll.mute', 'No plan, no children, no forks.')));
		const kids = [];
		rows.forEach(({r, col}, i) => {
			const x = 16 + col * 48, y = 12 + i * 32, from = rows.findIndex(q => q.r.run === (r.fork_of ?? r.parent));
			if (from >= 0) kids.push(svg('path', {class: 'edge', d: `M${x - 42} ${20 + from * 32}V${y + 8}H${x - 2}`}));
			const a = svg('a', {href: runHref(r.run), class: 's-' + r.status},
				svg('g', {class: 'm s-' + r.status, transform: `translate(${x} ${y + 2})`},
					svg('path', {d: MARKS[r.status] ?? MARKS.unknown})),
				label(x + 20, y + 12, `${r.run === id ? 'this: ' : ''}${oneLine(r.prompt, 60)}`),
				label(x + 480, y + 12, `${r.fork_of ? 'fork' + (r.at ? ' at ' + r.at : '') : r.parent ?
					'child, ' + oneLine(r.agent, 30) : oneLine(r.agent, 30)}, ${stateWord({state: r.status})}`, 't-mute'));
			kids.push(a);
		});
		this.family.replaceChildren(svg('svg', {width: 900, height: 24 + rows.length * 32}, ...kids));
	}
}
