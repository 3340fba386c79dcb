/* axis.js - time to pixels with long idle times cut out, the critical path, and
 * how a bar of each state looks. Shared by the timeline, the overview, and the
 * comparison of runs. */

export const CUT = 24; /* pixels of a break */
const IDLE_S = 20, IDLE_PART = 0.1;

export const leaf = p => p.kind === 'model' || p.kind === 'call' ||
	p.kind === 'action' || p.kind === 'retrieval';

/* Segments of time in which something happens: [{a, b, v}], v the place on an
 * axis without the idle times, in seconds. */
export function segments(state, now, whole) {
	const t0 = state.t0, t1 = Math.max(now, state.time, t0 + 0.001), busy = [];
	for (const p of state.spans) {
		if (!leaf(p)) continue;
		/* Waiting for a person is idle. */
		const from = p.run0 ?? (p.ask ? p.ask.t1 ?? p.t0 : p.t0);
		busy.push([Math.max(t0, from), p.t1 ?? (p.state === 'waiting' ? from : now)]);
	}
	busy.sort((x, y) => x[0] - y[0]);
	const least = Math.max(IDLE_S, (t1 - t0) * IDLE_PART), out = [];
	let a = t0, end = t0;
	if (!whole) for (const [from, to] of busy) {
		if (from - end > least) {
			out.push({a, b: end});
			a = from;
		}
		end = Math.max(end, to);
	}
	if (!whole && t1 - end > least) { out.push({a, b: end}); a = t1; }
	out.push({a, b: t1});
	let v = 0;
	for (const s of out) {
		s.v = v;
		v += Math.max(s.b - s.a, 1e-6);
		s.why = state.gaps.find(g => g.t1 > s.b && g.t0 <= s.b + 1)?.why;
	}
	return out;
}

export const total = segs => {
	const s = segs.at(-1);
	return s.v + Math.max(s.b - s.a, 1e-6);
};

/* A view of [v0, v1] on `width` pixels. */
export class Scale {
	constructor(segs, v0, v1, width) {
		this.segs = segs;
		this.v0 = v0;
		this.first = this.seg(v0);
		const cuts = this.seg(v1) - this.first;
		this.k = Math.max(1, width - cuts * CUT) / Math.max(1e-6, v1 - v0);
	}

	seg(v) {
		let i = this.segs.length - 1;
		while (i > 0 && this.segs[i].v > v) i--;
		return i;
	}

	/* Seconds of the clock to a place. */
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
			const s = this.segs[i], from = (s.v - this.v0) * this.k + CUT * (i - this.first);
			const to = from + (s.b - s.a) * this.k;
			if (x <= to + CUT / 2 || i === this.segs.length - 1)
				return Math.max(s.a, Math.min(s.b, s.a + (x - from) / this.k));
		}
	}
}

const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
	15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
export const step = (k, px = 90) => STEPS.find(s => s * k >= px) ?? 86400;

/* What the end waited for: spans from last to first. */
export function critical(state) {
	const done = state.spans.filter(p => leaf(p) && p.t1 !== null &&
		p.state !== 'skipped' && !(p.kind === 'model' && p.parent >= 0 &&
			state.spans[p.parent].kind === 'action'));
	if (!done.length) return {path: new Set(), ms: 0};
	const byEnd = done.slice().sort((x, y) => x.t1 - y.t1 || x.i - y.i), named = new Map();
	for (const p of done) if (p.kind === 'action') named.set(p.key, p);
	const path = new Set();
	let cur = byEnd.at(-1), sum = 0, edge = cur.t1;
	for (let k = byEnd.length - 1; cur && !path.has(cur.i);) {
		path.add(cur.i);
		sum += Math.max(0, Math.min(edge, cur.t1) - cur.t0);
		edge = cur.t0;
		let next = null;
		if (cur.kind === 'action' && cur.deps?.length) {
			for (const d of cur.deps) {
				const p = named.get(d);
				if (p && !path.has(p.i) && (!next || p.t1 > next.t1)) next = p;
			}
		}
		if (!next && cur.kind === 'call' && cur.parent >= 0) {
			const m = state.spans[cur.parent];
			if (m.kind === 'model' && m.t0 < cur.t0 && (m.t1 === null || m.t1 > cur.t0 - 0.0005))
				next = path.has(m.i) ? null : m;
		}
		if (!next) {
			while (k >= 0 && (byEnd[k].t1 > cur.t0 + 0.0005 || path.has(byEnd[k].i))) k--;
			next = k >= 0 && !(cur.kind === 'action' && byEnd[k].kind === 'action') ? byEnd[k] : null;
		}
		cur = next;
	}
	return {path, ms: sum * 1000};
}

/* -- Colours and bars */

const NAMES = ['bg', 'panel', 'sunk', 'line', 'edge', 'ink', 'mute', 'run',
	'wait', 'fail', 'deny', 'ok', 'model', 'tool', 'action'];

/* The tokens of the style sheet as colours that a canvas takes. */
export function palette() {
	const probe = document.createElement('i'), out = {};
	document.body.append(probe);
	for (const n of NAMES) {
		probe.style.setProperty('color', `var(--${n})`);
		out[n] = getComputedStyle(probe).color;
	}
	probe.remove();
	return out;
}

const hatches = new Map();
export function hatch(g, colour, dpr) {
	const key = colour + dpr;
	if (!hatches.has(key)) {
		const c = document.createElement('canvas');
		c.width = c.height = 6 * dpr;
		const h = c.getContext('2d');
		h.scale(dpr, dpr);
		h.strokeStyle = colour;
		h.lineWidth = 1.6;
		h.beginPath();
		for (const d of [-6, 0, 6]) { h.moveTo(d, 6); h.lineTo(d + 6, 0); }
		h.stroke();
		hatches.set(key, c);
	}
	const p = g.createPattern(hatches.get(key), 'repeat');
	p.setTransform(new DOMMatrix().scale(1 / dpr));
	return p;
}

export const hue = (c, p) => p.kind === 'model' ? c.model : p.kind === 'call' ||
	p.kind === 'retrieval' ? c.tool : c.action;

/* A bar from x0 to x1 in the row with its middle at y. */
export function bar(g, c, kind, state, x0, x1, y, h, dpr) {
	const w = Math.max(2, x1 - x0), top = y - h / 2, colour = hue(c, {kind});
	g.lineWidth = 1;
	switch (state) {
	case 'running':
		g.fillStyle = colour;
		g.fillRect(x0, top, Math.max(1, w - 5), h);
		g.fillRect(x0 + w - 5, top, 5, 2);
		g.fillRect(x0 + w - 5, top + h - 2, 5, 2);
		break;
	case 'waiting':
		g.fillStyle = hatch(g, c.wait, dpr);
		g.fillRect(x0, top, w, h);
		g.strokeStyle = c.wait;
		g.strokeRect(x0 + 0.5, top + 0.5, w - 1, h - 1);
		break;
	case 'failed': case 'timeout':
		g.fillStyle = c.fail;
		g.beginPath();
		g.moveTo(x0, top);
		if (w > 8) { g.lineTo(x0 + w - 6, top); g.lineTo(x0 + w - 3, top + h / 2); g.lineTo(x0 + w, top); }
		else g.lineTo(x0 + w, top);
		g.lineTo(x0 + w, top + h);
		g.lineTo(x0, top + h);
		g.fill();
		break;
	case 'denied':
		g.strokeStyle = c.deny;
		g.strokeRect(x0 + 0.5, top + 0.5, Math.max(3, w - 1), h - 1);
		g.fillStyle = c.deny;
		g.fillRect(x0, y - 1, Math.max(4, w), 2);
		break;
	case 'canceled':
		g.fillStyle = colour;
		g.beginPath();
		g.moveTo(x0, top);
		g.lineTo(x0 + w, top);
		g.lineTo(x0 + Math.max(1, w - 8), top + h);
		g.lineTo(x0, top + h);
		g.fill();
		break;
	case 'skipped':
		g.strokeStyle = c.edge;
		g.setLineDash([3, 2]);
		g.strokeRect(x0 + 0.5, top + 0.5, Math.max(7, w - 1), h - 1);
		g.setLineDash([]);
		break;
	case 'unknown':
		g.fillStyle = hatch(g, c.fail, dpr);
		g.fillRect(x0, top, Math.max(6, w), h);
		break;
	case 'cached':
		g.fillStyle = colour;
		g.fillRect(x0, y - 2, w, 4);
		break;
	case 'superseded': case 'limit':
		g.globalAlpha = 0.4;
		g.fillStyle = colour;
		g.fillRect(x0, top, w, h);
		g.globalAlpha = 1;
		break;
	default:
		g.fillStyle = colour;
		g.fillRect(x0, top, w, h);
	}
}
