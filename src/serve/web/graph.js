/* graph.js - plans as boxes by wave, and the family of a run: a column for each
 * branch, with the event at which it left its parent. */
import {el, svg, oneLine, ms, plain, stateWord, MARKS, BAD, runHref, on} from './text.js';
import {critical} from './axis.js';
import * as api from './api.js';

const BW = 156, BH = 40, GX = 44, GY = 14, FAMILY_MAX = 200;

const label = (x, y, text, cls = '') => svg('text', {x, y, class: cls}, text);
const markAt = (state, x, y) => svg('g', {class: 'm s-' + state, transform: `translate(${x} ${y})`},
	svg('path', {d: MARKS[state] ?? MARKS.unknown}));

/* What fits into a box: about 7 pixels a character. */
const fit = (s, px) => oneLine(s, Math.floor(px / 7));

/* Actions [{id, name, type, depends_on, wave, state?, ms?, critical?}]. */
export function dag(actions, pick) {
	const waves = Map.groupBy(actions, a => a.wave || 1), at = new Map();
	const cols = [...waves.keys()].sort((a, b) => a - b), x = c => 16 + c * (BW + GX), kids = [];
	cols.forEach((w, c) => {
		kids.push(label(x(c), 16, 'wave ' + w, 't-mute'));
		waves.get(w).forEach((a, r) => at.set(a.id, {a, x: x(c), y: 28 + r * (BH + GY)}));
	});
	for (const q of at.values()) for (const d of q.a.depends_on ?? []) {
		const p = at.get(d);
		if (!p) continue;
		const x0 = p.x + BW, m = (q.x + x0) / 2, y0 = p.y + BH / 2, y1 = q.y + BH / 2;
		kids.push(svg('path', {class: 'edge' + (q.a.critical && p.a.critical ? ' crit' : ''),
			d: `M${x0} ${y0}C${m} ${y0} ${m} ${y1} ${q.x} ${y1}`}));
	}
	for (const p of at.values()) kids.push(box(p, pick));
	return svg('svg', {width: x(cols.length), height: 44 + Math.max(1, ...cols.map(w => waves.get(w).length)) * (BH + GY), role: 'img',
		'aria-label': `${actions.length} actions in ${cols.length} waves`}, ...kids);
}

function box({a, x, y}, pick) {
	const s = a.state, cls = s === 'skipped' ? 'skip' : BAD.has(s) ? 'bad' : s === 'running' ? 'now' : '';
	const time = a.ms != null ? ms(a.ms) : a.estimate_ms ? '~' + ms(a.estimate_ms) : '';
	const g = svg('g', {transform: `translate(${x} ${y})`},
		svg('title', {}, `${plain(a.name, 200)}, ${plain(a.type, 20)}${s ? ', ' + stateWord(a) : ''}`),
		svg('rect', {class: 'box ' + cls, width: BW, height: BH, rx: 4}), label(10, 16, fit(a.name, BW - 34)),
		label(10, 32, fit([a.type, s && s !== 'ok' ? stateWord(a) : time].filter(Boolean).join(', '), BW - 20), 't-mute'),
		a.critical ? svg('rect', {class: 'bar-crit', y: BH, width: BW, height: 2}) : '', s ? markAt(s, BW - 20, 8) : '');
	if (pick) on(g, 'click', () => pick(a));
	return g;
}

export function actionsOf(state) {
	const {path} = critical(state), spans = new Map(state.spans.filter(p => p.kind === 'action').map(p => [p.key, p]));
	return [...state.deps.values()].map(a => {
		const {state: s, ms: took, error, reason, i} = spans.get(a.id) ?? {};
		return {...a, state: s, ms: took, error, reason, span: i, critical: path.has(i)};
	});
}

export class View {
	constructor(ctx) {
		Object.assign(this, {ctx, plan: el('div'), family: el('div')});
		this.node = el('div.pic', {tabindex: 0}, this.plan, this.family);
	}

	update(state, force) {
		const asked = state.outcome ? 2 : 1;
		if (this.seq === state.seq && !force) return;
		this.seq = state.seq;
		if (state.deps.size) this.plan.replaceChildren(dag(actionsOf(state), a => a.span >= 0 && this.ctx.select({span: a.span})));
		if (this.asked === asked) return;
		this.asked = asked;
		this.relatives(state);
	}

	async relatives({fork, deps}) {
		const {id} = this.ctx, all = new Map((await api.ask('/v1/runs?limit=500')).runs.map(r => [r.run, r])), rows = [], kids = [];
		if (fork && all.has(id)) Object.assign(all.get(id), {fork_of: fork.parent, at: fork.at});
		const up = r => all.get(r?.fork_of ?? r?.parent);
		let root = all.get(id);
		for (let n = 0; up(root) && n < 50; n++) root = up(root);
		const walk = (r, col) => {
			if (!r || rows.length > FAMILY_MAX) return;
			const i = rows.push(r) - 1, x = 16 + col * 48, y = 12 + i * 32, from = rows.indexOf(up(r));
			if (from >= 0) kids.push(svg('path', {class: 'edge', d: `M${x - 42} ${20 + from * 32}V${y + 8}H${x - 2}`}));
			const what = r.fork_of ? 'fork' + (r.at ? ' at ' + r.at : '') : (r.parent ? 'child, ' : '') + oneLine(r.agent, 30);
			kids.push(svg('a', {href: runHref(r.run)}, markAt(r.status, x, y + 2),
				label(x + 20, y + 12, (r.run === id ? 'this: ' : '') + oneLine(r.prompt, 60)),
				label(x + 480, y + 12, `${what}, ${stateWord({state: r.status})}`, 't-mute')));
			[...all.values()].filter(k => up(k) === r && k !== r).sort((a, b) => a.started - b.started).forEach(k => walk(k, col + 1));
		};
		walk(root, 0);
		this.family.replaceChildren(rows.length > 1 ? svg('svg', {width: 900, height: 24 + rows.length * 32}, ...kids) :
			deps.size ? '' : el('p.scroll.mute', 'No plan, no children, no forks.'));
	}
}
