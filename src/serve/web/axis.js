/* axis.js - time to pixels with long idle times cut out, the critical path, and
 * how a bar of each state looks. Shared by the timeline and the overview. */

export const CUT = 24; /* pixels of a break */
const IDLE_S = 20, IDLE_PART = 0.1;

export const leaf = p => ['model', 'call', 'action', 'retrieval'].includes(p.kind);

/* Segments of time in which something happens: [{a, b, v}], v the place on an
 * axis without the idle times, in seconds. Waiting for a person is idle. */
export function segments(state, now, whole) {
	const t0 = state.t0, t1 = Math.max(now, state.time, t0 + 0.001), least = Math.max(IDLE_S, (t1 - t0) * IDLE_PART);
	const busy = state.spans.filter(leaf).map(p => {
		const from = Math.max(t0, p.run0 ?? p.ask?.t1 ?? p.t0);
		return [from, p.t1 ?? (p.state === 'waiting' ? from : now)];
	}).sort((x, y) => x[0] - y[0]);
	const out = [];
	let a = t0, end = t0, v = 0;
	for (const [from, to] of whole ? [] : [...busy, [t1, t1]]) {
		if (from - end > least) {
			out.push({a, b: end});
			a = from;
		}
		end = Math.max(end, to);
	}
	out.push({a, b: t1});
	for (const s of out) {
		s.v = v;
		v += Math.max(s.b - s.a, 1e-6);
		s.why = state.gaps.find(g => g.t1 > s.b && g.t0 <= s.b + 1)?.why;
	}
	return out;
}

export const total = segs => segs.at(-1).v + Math.max(segs.at(-1).b - segs.at(-1).a, 1e-6);

/* A view of [v0, v1] on `width` pixels. */
export class Scale {
	constructor(segs, v0, v1, width) {
		Object.assign(this, {segs, v0});
		const seg = v => Math.max(0, segs.findLastIndex(s => s.v <= v));
		this.first = seg(v0);
		this.k = Math.max(1, width - (seg(v1) - this.first) * CUT) / Math.max(1e-6, v1 - v0);
	}

	virtual(t) {
		let i = this.segs.length - 1;
		while (i > 0 && this.segs[i].a > t) i--;
		const s = this.segs[i];
		return {v: s.v + Math.max(0, Math.min(t, s.b) - s.a), i};
	}

	x(t) {
		const {v, i} = this.virtual(t);
		return (v - this.v0) * this.k + CUT * (i - this.first);
	}

	t(x) {
		for (let i = this.first; ; i++) {
			const s = this.segs[i], from = (s.v - this.v0) * this.k + CUT * (i - this.first), to = from + (s.b - s.a) * this.k;
			if (x <= to + CUT / 2 || i === this.segs.length - 1) return Math.max(s.a, Math.min(s.b, s.a + (x - from) / this.k));
		}
	}
}

const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
	7200, 14400, 43200, 86400];
export const step = k => STEPS.find(s => s * k >= 90) ?? 86400;

/* What the end waited for, from the last to the first: over depends_on, else
 * the message that made a call, else what ended just before. */
export function critical({spans}) {
	const done = spans.filter(p => leaf(p) && p.t1 !== null && p.state !== 'skipped' &&
		!(p.kind === 'model' && spans[p.parent]?.kind === 'action')).sort((x, y) => x.t1 - y.t1 || x.i - y.i);
	const named = new Map(done.filter(p => p.kind === 'action').map(p => [p.key, p])), path = new Set();
	let k = done.length - 1, cur = done[k], sum = 0, edge = Infinity;
	while (cur && !path.has(cur.i)) {
		path.add(cur.i);
		sum += Math.max(0, Math.min(edge, cur.t1) - cur.t0);
		edge = cur.t0;
		const made = cur.kind === 'call' && spans[cur.parent];
		let next = (cur.kind === 'action' && cur.deps || []).map(d => named.get(d)).filter(p => p && !path.has(p.i))
			.sort((x, y) => y.t1 - x.t1)[0];
		if (made?.kind === 'model' && made.t0 < edge && !(made.t1 < edge - 0.0005) && !path.has(made.i)) next = made;
		if (!next) {
			while (k >= 0 && (done[k].t1 > edge + 0.0005 || path.has(done[k].i))) k--;
			if (done[k] && !(cur.kind === 'action' && done[k].kind === 'action')) next = done[k];
		}
		cur = next;
	}
	return {path, ms: sum * 1000};
}

/* -- Colours and bars */

const NAMES = ['bg', 'panel', 'sunk', 'line', 'edge', 'ink', 'mute', 'run', 'wait', 'fail', 'deny', 'ok', 'model', 'tool', 'action'];

/* The tokens of the style sheet as colours that a canvas takes; asking is slow. */
const palettes = {};
export function palette() {
	const key = document.documentElement.dataset.theme + matchMedia('(prefers-color-scheme: dark)').matches;
	if (palettes[key]) return palettes[key];
	const probe = document.createElement('i'), out = palettes[key] = {};
	document.body.append(probe);
	for (const n of NAMES) {
		probe.style.setProperty('color', `var(--${n})`);
		out[n] = getComputedStyle(probe).color;
	}
	probe.remove();
	return out;
}

/* A canvas of w x h pixels of the page; how to fill a part of it. */
export function sharp(canvas, w, h) {
	const dpr = Math.min(2, devicePixelRatio || 1), g = canvas.getContext('2d');
	canvas.width = Math.round(w * dpr);
	canvas.height = Math.round(h * dpr);
	g.scale(dpr, dpr);
	return dpr;
}

export function fill(g, colour, x, y, w, h, alpha = 1) {
	g.globalAlpha = alpha;
	g.fillStyle = colour;
	g.fillRect(x, y, w, h);
	g.globalAlpha = 1;
}

const hatches = new Map();
export function hatch(g, colour, dpr) {
	const key = colour + dpr;
	if (!hatches.has(key)) {
		const c = document.createElement('canvas'), h = c.getContext('2d');
		c.width = c.height = 6 * dpr;
		h.scale(dpr, dpr);
		h.strokeStyle = colour;
		h.lineWidth = 1.6;
		h.stroke(new Path2D('M-6 6L0 0M0 6L6 0M6 6L12 0'));
		hatches.set(key, c);
	}
	const p = g.createPattern(hatches.get(key), 'repeat');
	p.setTransform(new DOMMatrix().scale(1 / dpr));
	return p;
}

export const hue = (c, p) => p.kind === 'model' ? c.model : p.kind === 'call' || p.kind === 'retrieval' ? c.tool : c.action;

/* A bar from x0 to x1 in the row with its middle at y. */
export function bar(g, c, kind, state, x0, x1, y, h, dpr) {
	const w = Math.max(2, x1 - x0), top = y - h / 2, end = x0 + w, low = top + h;
	const fill = (colour, ...box) => { g.fillStyle = colour; g.fillRect(...box); };
	const frame = (colour, width) => { g.strokeStyle = colour; g.strokeRect(x0 + 0.5, top + 0.5, width, h - 1); };
	const shape = (colour, points) => { g.fillStyle = colour; g.fill(new Path2D('M' + points.join('L'))); };
	const colour = hue(c, {kind});
	g.lineWidth = 1;
	switch (state) {
	case 'running': /* the right edge is open */
		fill(colour, x0, top, Math.max(1, w - 5), h);
		fill(colour, end - 5, top, 5, 2);
		fill(colour, end - 5, low - 2, 5, 2);
		break;
	case 'waiting':
		fill(hatch(g, c.wait, dpr), x0, top, w, h);
		frame(c.wait, w - 1);
		break;
	case 'failed': case 'timeout': /* a notch */
		shape(c.fail, [[x0, top], ...(w > 8 ? [[end - 6, top], [end - 3, y]] : []), [end, top], [end, low], [x0, low]]);
		break;
	case 'denied': /* an outline with a middle line */
		frame(c.deny, Math.max(3, w - 1));
		fill(c.deny, x0, y - 1, Math.max(4, w), 2);
		break;
	case 'canceled': /* the end is slanted */
		shape(colour, [[x0, top], [end, top], [x0 + Math.max(1, w - 8), low], [x0, low]]);
		break;
	case 'skipped':
		g.setLineDash([3, 2]);
		frame(c.edge, Math.max(7, w - 1));
		g.setLineDash([]);
		break;
	case 'unknown': /* the ends are open */
		fill(hatch(g, c.fail, dpr), x0, top, Math.max(6, w), h);
		break;
	case 'superseded': case 'limit':
		g.globalAlpha = 0.4;
		fill(colour, x0, top, w, h);
		g.globalAlpha = 1;
		break;
	default:
		fill(colour, x0, state === 'cached' ? y - 2 : top, w, state === 'cached' ? 4 : h);
	}
}
