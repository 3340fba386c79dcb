/* time.js - the timeline: names as elements, bars on one canvas of the size of
 * the window. Only visible rows are touched. */
import {el, foreign, oneLine, mark, ms, count, cost, stateWord, when, say, BAD, runHref}
	from './text.js';
import {Log, pageLines} from './fold.js';
import {segments, total, Scale, CUT, step, critical, palette, hatch, bar,
	leaf} from './axis.js';
import * as api from './api.js';
import {query} from './main.js';

const AXIS = 24;
const MANY = 400; /* rows from which on turns begin folded */
const NEAR = 6;
const EXTRA = 10; /* rows beyond the window */

const shownKind = p => p.kind !== 'context' || (p.t1 ?? 0) - p.t0 > 0.05;
const look = p => p.cached && p.state === 'ok' ? 'cached' : p.state;

function label(p) {
	if (p.kind === 'model') return p.purpose === 'answer' ? p.name : `${p.name}, ${p.purpose}`;
	return p.name;
}

export class Timeline {
	constructor(ctx) {
		this.ctx = ctx;
		this.rows = [];
		this.folds = new Map(); /* id of a row -> open? */
		this.kids = new Map(); /* run of a child -> its log */
		this.v0 = 0;
		this.v1 = null; /* null: follows the end */
		this.whole = false;
		this.focus = 0;
		this.path = {path: new Set(), ms: 0};
		this.build();
	}

	build() {
		const tool = (text, title, click) => el('button', {type: 'button', title, on: {click}}, text);
		this.sum = el('span.sum');
		this.liveChip = el('button', {type: 'button', class: 'chip-live', hidden: true,
			on: {click: () => this.live()}}, 'Live');
		this.cutButton = tool('True time', 'x: show idle times at their length',
			() => this.toggleCut());
		this.critButton = tool('Critical path', 'c: only what the end waited for',
			() => this.toggleCrit());
		this.tools = el('div.time-tools', this.sum,
			el('span.grow'), this.liveChip, this.critButton, this.cutButton,
			tool('Fit', '0: all of it', () => this.fit()));
		this.canvas = el('canvas', {'aria-hidden': 'true'});
		this.labels = el('div.time-labels', {role: 'treegrid', 'aria-label': 'Timeline rows'});
		this.sizer = el('div.time-sizer', el('div', {class: 'time-view'}, this.labels, this.canvas));
		this.scroll = el('div.time-scroll', {tabindex: '-1'}, this.sizer);
		this.tip = el('div.tip', {hidden: true, role: 'tooltip'});
		this.node = el('div.time', this.tools, this.scroll, this.tip);
		this.scroll.addEventListener('scroll', () => this.soon(), {passive: true});
		this.labels.addEventListener('keydown', e => this.rowKey(e));
		this.labels.addEventListener('click', e => this.clicked(e));
		this.labels.addEventListener('focusin', e => {
			const r = this.rowOf(e.target);
			if (r) { this.focus = r.at; this.showTip(r, null); }
		});
		this.labels.addEventListener('focusout', () => { this.tip.hidden = true; });
		const c = this.canvas;
		c.addEventListener('pointermove', e => this.moved(e));
		c.addEventListener('pointerleave', () => { this.tip.hidden = true; });
		c.addEventListener('pointerdown', e => this.down(e));
		c.addEventListener('pointerup', e => this.up(e));
		c.addEventListener('dblclick', () => this.fit());
		this.scroll.addEventListener('wheel', e => this.wheel(e), {passive: false});
		this.resize = new ResizeObserver(() => { this.sized = false; this.soon(); });
		this.resize.observe(this.scroll);
	}

	close() { this.resize.disconnect(); cancelAnimationFrame(this.frame); }

	soon() {
		this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); });
	}

	/* ---- Rows --------------------------------------------------------------------- */

	isOpen(id, p, many) {
		const set = this.folds.get(id);
		if (set !== undefined) return set;
		if (p.child) return false;
		return !many || p.kind !== 'turn' || p.t1 === null;
	}

	/* All rows of a state, below `level`. */
	list(state, run, level, out) {
		const kids = new Map(), many = state.spans.length > MANY;
		for (const p of state.spans) {
			if (!shownKind(p)) continue;
			if (!kids.has(p.parent)) kids.set(p.parent, []);
			kids.get(p.parent).push(p);
		}
		const only = this.onlyPath && level === 1 ? this.path.path : null;
		const walk = (of, deep) => {
			for (const p of kids.get(of) ?? []) {
				if (deep > 40) return;
				const id = run + '/' + p.i, has = kids.has(p.i) || !!p.child;
				const open = has && (only ? true : this.isOpen(id, p, many));
				if (!only || only.has(p.i)) out.push({id, run, state, p: p.i,
					level: only ? 1 : deep, has: has && !only, open, at: out.length,
					inner: !open && kids.has(p.i) ? kids.get(p.i) : null});
				if (!open) continue;
				walk(p.i, deep + 1);
				if (p.child && this.folds.get(id)) {
					const log = this.kids.get(p.child);
					if (log?.state.run) this.list(log.state, p.child, deep + 1, out);
				}
			}
		};
		walk(-1, level);
		return out;
	}

	update(state, force) {
		const key = `${state.seq}/${this.version ?? 0}/${this.onlyPath}`;
		const other = key !== this.key || force;
		this.key = key;
		this.state = state;
		if (force) this.colours = null;
		if (other) {
			const ends = state.spans.reduce((n, p) => n + (p.t1 !== null), 0);
			if (ends !== this.ends || force) {
				this.ends = ends;
				if (!this.pathAt || performance.now() - this.pathAt > 1000 || state.outcome) {
					this.pathAt = performance.now();
					this.path = critical(state);
				}
			}
			this.rows = this.list(state, this.ctx.id, 1, []);
			this.labels.setAttribute('aria-rowcount', this.rows.length);
		}
		this.draw();
	}

	reveal(i) {
		const s = this.ctx.state;
		for (let p = s.spans[i]?.parent ?? -1; p >= 0; p = s.spans[p].parent)
			this.folds.set(`${this.ctx.id}/${p}`, true);
		this.version = (this.version ?? 0) + 1;
		if (this.state) this.update(s);
		const row = this.rows.find(r => r.run === this.ctx.id && r.p === i);
		if (row) this.into(row.at);
	}

	into(at) {
		const h = this.rowHeight(), y = at * h, v = this.scroll;
		if (y < v.scrollTop) v.scrollTop = y;
		else if (y + h + AXIS > v.scrollTop + v.clientHeight)
			v.scrollTop = y + h + AXIS - v.clientHeight + h;
	}

	rowHeight() {
		return this.tall ?? (this.tall = matchMedia('(pointer: coarse), (max-width: 699px)')
			.matches ? 44 : 24);
	}

	async toggle(row, open) {
		if (!row?.has) return;
		const p = row.state.spans[row.p];
		this.folds.set(row.id, open ?? !row.open);
		if (p.child && this.folds.get(row.id) && !this.kids.has(p.child))
			await this.loadChild(p.child);
		this.version = (this.version ?? 0) + 1;
		this.update(this.state);
	}

	async loadChild(run) {
		const log = new Log();
		this.kids.set(run, log);
		try {
			for (let from = 1; from;) {
				const {lines, next} = pageLines(await api.ask(api.run(run,
					`/events?format=json&from=${from}&limit=2000`), {text: true}));
				for (const l of lines) log.add(l);
				from = next;
			}
		} catch (e) {
			this.kids.delete(run);
			say(e.message);
		}
	}

	/* ---- The window ------------------------------------------------------------------ */

	scale() {
		this.segs = segments(this.state, this.ctx.now(), this.whole);
		const all = total(this.segs);
		if (this.v1 === null) this.v0 = 0;
		const v1 = this.v1 ?? all * (1 + 60 / Math.max(200, this.w));
		this.liveChip.hidden = this.v1 === null || !!this.state.outcome;
		return new Scale(this.segs, this.v0, v1, this.w - 8);
	}

	fit() { this.v1 = null; query({z: null}); this.soon(); }
	live() { this.fit(); }

	/* z=from-to in seconds since the start. */
	zoomTo(z) {
		const m = /^([\d.]+)-([\d.]+)$/.exec(z);
		if (m && +m[2] > +m[1]) { this.v0 = +m[1]; this.v1 = +m[2]; this.soon(); }
	}

	zoom(factor, x = this.w / 2) {
		if (!this.state) return;
		const s = this.scale(), all = total(this.segs);
		const v1 = this.v1 ?? all, mid = s.virtual(s.t(x)).v;
		let a = mid - (mid - this.v0) * factor, b = mid + (v1 - mid) * factor;
		if (b - a < 0.002) return;
		a = Math.max(0, a);
		b = Math.min(all * 1.05, b);
		this.range(a, b, all);
	}

	range(a, b, all = total(this.segs)) {
		if (a <= 0 && b >= all) return this.fit();
		this.v0 = a;
		this.v1 = b;
		query({z: a.toFixed(3) + '-' + b.toFixed(3)});
		this.soon();
	}

	pan(px) {
		const s = this.scale(), all = total(this.segs);
		if (this.v1 === null) return;
		const w = this.v1 - this.v0;
		const a = Math.max(0, Math.min(all - w, this.v0 + px / s.k));
		this.range(a, a + w, Infinity);
	}

	toggleCut() {
		this.whole = !this.whole;
		this.cutButton.setAttribute('aria-pressed', String(this.whole));
		this.fit();
	}

	toggleCrit() {
		this.onlyPath = !this.onlyPath;
		this.critButton.setAttribute('aria-pressed', String(!!this.onlyPath));
		if (this.state) this.update(this.state, true);
	}

	/* ---- Drawing ----------------------------------------------------------------------- */

	size() {
		const dpr = Math.min(2, devicePixelRatio || 1), box = this.scroll;
		this.tall = null;
		this.h = box.clientHeight;
		this.sizer.firstChild.style.setProperty('height', this.h + 'px');
		this.w = Math.max(50, this.canvas.parentElement.clientWidth -
			this.labels.offsetWidth);
		this.canvas.width = Math.round(this.w * dpr);
		this.canvas.height = Math.round(this.h * dpr);
		this.canvas.style.setProperty('width', this.w + 'px');
		this.canvas.style.setProperty('height', this.h + 'px');
		this.dpr = dpr;
		this.sized = true;
	}

	draw() {
		if (!this.state?.run || !this.node.isConnected || !this.scroll.clientHeight) return;
		const h = this.rowHeight();
		this.sizer.style.setProperty('height', AXIS + this.rows.length * h + 8 + 'px');
		if (!this.sized) this.size();
		this.colours ??= palette();
		const first = Math.max(0, Math.floor(this.scroll.scrollTop / h));
		const last = Math.min(this.rows.length, first + Math.ceil(this.h / h) + 1);
		this.put(Math.max(0, first - EXTRA), Math.min(this.rows.length, last + EXTRA), h);
		this.paint(first, last, h);
		const t = this.state, all = (this.ctx.now() - t.t0) * 1000;
		const text = this.range_ ?? (this.path.ms && all ? `critical path ${ms(this.path.ms)
		} of ${ms(all)}` : '');
		if (this.sum.textContent !== text) this.sum.textContent = text;
	}

	paint(first, last, h) {
		const g = this.canvas.getContext('2d'), c = this.colours, s = this.scale();
		this.last = s;
		g.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
		g.clearRect(0, 0, this.w, this.h);
		g.font = '12px ' + getComputedStyle(document.body).fontFamily;
		g.textBaseline = 'middle';
		this.grid(g, c, s);
		const chosen = this.ctx.chosen?.span;
		g.save();
		g.beginPath();
		g.rect(0, AXIS, this.w, this.h);
		g.clip();
		for (let i = first; i < last; i++) {
			const r = this.rows[i], y = AXIS + i * h - this.scroll.scrollTop + h / 2;
			const p = r.state.spans[r.p];
			if (r.run === this.ctx.id && r.p === chosen) {
				g.fillStyle = c.line;
				g.globalAlpha = 0.45;
				g.fillRect(0, y - h / 2, this.w, h);
				g.globalAlpha = 1;
			}
			this.row(g, c, s, r, p, y);
		}
		g.restore();
		if (this.drag && Math.abs(this.drag.x1 - this.drag.x0) > 3) {
			g.fillStyle = c.run;
			g.globalAlpha = 0.12;
			g.fillRect(Math.min(this.drag.x0, this.drag.x1), 0,
				Math.abs(this.drag.x1 - this.drag.x0), this.h);
			g.globalAlpha = 1;
		}
	}

	grid(g, c, s) {
		const d = step(s.k), t0 = this.state.t0;
		g.strokeStyle = g.fillStyle = c.line;
		g.fillRect(0, AXIS - 1, this.w, 1);
		g.textAlign = 'left';
		for (let i = s.first; i < this.segs.length; i++) {
			const q = this.segs[i], x0 = s.x(q.a);
			if (x0 > this.w) break;
			const from = Math.max(q.a, s.t(Math.max(0, x0)));
			for (let n = Math.ceil((from - t0) / d - 1e-6); t0 + n * d <= q.b; n++) {
				const x = Math.round(s.x(t0 + n * d)) + 0.5;
				if (x > this.w) break;
				if (x < -1) continue;
				g.fillStyle = c.line;
				g.fillRect(x - 0.5, AXIS - 5, 1, this.h);
				g.fillStyle = c.mute;
				const text = this.tick(t0 + n * d, n * d, d);
				if (x + g.measureText(text).width + 6 < this.w) g.fillText(text, x + 4, AXIS / 2);
			}
			if (i + 1 < this.segs.length) this.cut(g, c, s, q, this.segs[i + 1]);
		}
	}

	tick(t, since, d) {
		const w = when(t, this.state.t0, d < 1);
		if (!w.startsWith('+')) return d < 0.1 ? w : w.replace(/(\.\d)\d\d/, '$1');
		return since === 0 ? '0' : d < 1 ? ms(since * 1000) : ms(since * 1000)
			.replace(/\.0 s$/, ' s');
	}

	cut(g, c, s, a, b) {
		const x = s.x(a.b);
		if (x < -CUT || x > this.w) return;
		g.fillStyle = c.sunk;
		g.fillRect(x, 0, CUT, this.h);
		g.fillStyle = hatch(g, c.line, this.dpr);
		g.fillRect(x, AXIS, CUT, this.h);
		g.fillStyle = c.ink;
		const text = `${ms((b.a - a.b) * 1000)}${a.why ? ', ' + a.why : ''}`;
		g.save();
		g.translate(x + CUT / 2, AXIS + 8);
		g.rotate(Math.PI / 2);
		g.fillText(text, 0, 0);
		g.restore();
	}

	row(g, c, s, r, p, y) {
		const H = 12, now = this.ctx.now();
		const x0 = s.x(p.t0), x1 = Math.max(x0 + 2, s.x(p.t1 ?? now));
		if (x1 < -200 || x0 > this.w + 50) return;
		if (!leaf(p)) this.bracket(g, c, s, r, p, x0, x1, y);
		else {
			if (p.ask) bar(g, c, p.kind, 'waiting', s.x(p.ask.t0), s.x(p.ask.t1 ?? now), y, H, this.dpr);
			const pieces = p.pieces?.length ? p.pieces : p.ask && !p.run0 ? [] :
				[{t0: p.t0, t1: p.t1, state: p.state}];
			pieces.forEach((q, i) => this.piece(g, c, s, p, q, i, pieces, y, now));
			if (p.ask && p.state === 'denied' && !p.run0)
				bar(g, c, p.kind, 'denied', s.x(p.t1 ?? now) - 4, s.x(p.t1 ?? now), y, H, this.dpr);
		}
		if (r.run === this.ctx.id && this.path.path.has(p.i)) {
			g.fillStyle = c.ink;
			g.fillRect(x0, y + H / 2 + 1, Math.max(2, x1 - x0), 2);
		}
		this.word(g, c, p, x0, x1, y, now);
	}

	piece(g, c, s, p, q, i, pieces, y, now) {
		const a = s.x(q.t0), b = Math.max(a + 2, s.x(q.t1 ?? Math.max(now, q.t0)));
		const state = q.t1 === null ? 'running' : i === pieces.length - 1 ? look(p) : q.state;
		if (i) {
			const before = s.x(pieces[i - 1].t1);
			g.strokeStyle = c.mute;
			g.setLineDash([1, 3]);
			g.beginPath();
			g.moveTo(before, y);
			g.lineTo(a, y);
			g.stroke();
			g.setLineDash([]);
		}
		const first = p.kind === 'model' && i === pieces.length - 1 ? p.first : null;
		if (p.kind === 'model' && (state === 'ok' || state === 'running')) {
			const m = first === null ? (state === 'running' ? b : a) :
				Math.max(a, Math.min(b, s.x(first)));
			g.globalAlpha = 0.38;
			if (m - a > 1) bar(g, c, p.kind, state === 'running' && first === null ?
				'running' : 'ok', a, m, y, 12, this.dpr);
			g.globalAlpha = 1;
			if (first !== null || state === 'ok') bar(g, c, p.kind, state, m, b, y, 12, this.dpr);
		} else bar(g, c, p.kind, state, a, b, y, 12, this.dpr);
		if (pieces.length > 1 && b - a > 14) {
			g.fillStyle = c.panel;
			g.fillText(String(i + 1), a + 4, y + 0.5);
		}
	}

	/* Turns and plans: a thin line over their children, or all of them in it. */
	bracket(g, c, s, r, p, x0, x1, y) {
		g.fillStyle = c.edge;
		if (!r.inner) {
			g.fillRect(x0, y - 1, x1 - x0, 2);
			g.fillRect(x0, y - 4, 1, 8);
			if (p.t1 !== null) g.fillRect(x1 - 1, y - 4, 1, 8);
			return;
		}
		const now = this.ctx.now(), bad = [];
		g.globalAlpha = 0.5;
		g.fillRect(x0, y + 5, x1 - x0, 1);
		g.globalAlpha = 1;
		const walk = (list, deep) => {
			for (const q of list) {
				if (leaf(q)) {
					const a = s.x(q.t0), b = s.x(q.t1 ?? now);
					if (BAD.has(q.state)) bad.push([q, a, b]);
					else bar(g, c, q.kind, look(q), a, b, y, q.kind === 'model' ? 10 : 6, this.dpr);
				}
				if (deep < 3) walk(r.state.spans.filter(k => k.parent === q.i && k.i > q.i &&
					k.i < q.i + 64), deep + 1);
			}
		};
		if (x1 - x0 > 3 && r.state.spans.length < 20000) walk(r.inner, 0);
		for (const [q, a, b] of bad) bar(g, c, q.kind, q.state, a, Math.max(b, a + 3), y, 10, this.dpr);
	}

	word(g, c, p, x0, x1, y, now) {
		if (p.kind === 'turn' && !p.failed && (p.state === 'ok' || p.t1 === null)) return;
		const took = ((p.t1 ?? now) - (p.run0 ?? p.t0)) * 1000;
		let text = p.state === 'ok' && !p.cached ? ms(took) : stateWord({...p,
			t0: p.run0 ?? p.t0}, now);
		if (p.kind === 'turn' && p.failed && p.state === 'ok') text = `${p.failed} failed`;
		else if (p.state !== 'ok' && p.state !== 'running' && p.state !== 'waiting' &&
			p.state !== 'skipped' && took >= 1) text += ', ' + ms(took);
		const w = g.measureText(text).width;
		g.fillStyle = BAD.has(p.state) ? (p.state === 'denied' ? c.deny : c.fail) :
			p.state === 'waiting' ? c.wait : c.mute;
		if (x1 + w + 8 < this.w) g.fillText(text, Math.max(4, x1 + 6), y + 0.5);
		else if (x0 - w - 6 > 0) g.fillText(text, x0 - w - 6, y + 0.5);
		else {
			const x = Math.max(4, Math.min(this.w - w - 6, x0 + 6));
			g.fillStyle = c.panel;
			g.globalAlpha = 0.85;
			g.fillRect(x - 3, y - 7, w + 6, 14);
			g.globalAlpha = 1;
			g.fillStyle = c.ink;
			g.fillText(text, x, y + 0.5);
		}
	}

	/* ---- Labels: the visible rows, as a treegrid -------------------------------------- */

	put(from, to, h) {
		const key = `${this.key}/${from}/${to}/${this.ctx.chosen?.span}/${this.rows.length}`;
		const y = AXIS + from * h - this.scroll.scrollTop;
		this.box ??= this.labels.appendChild(el('div.time-rows', {role: 'rowgroup'}));
		this.box.style.setProperty('transform', `translateY(${y}px)`);
		const moving = this.rows.slice(from, to).map(r => r.state.spans[r.p]);
		if (key === this.putKey && moving.every((p, i) => p === this.putSpans[i])) return;
		this.putKey = key;
		this.putSpans = moving;
		const held = this.labels.contains(document.activeElement);
		this.box.replaceChildren(...this.rows.slice(from, to).map(r => this.labelRow(r)));
		this.putFrom = from;
		if (held) this.box.querySelector('[tabindex="0"]')?.focus({preventScroll: true});
	}

	labelRow(r) {
		const p = r.state.spans[r.p], name = oneLine(label(p), 120) || p.kind;
		const took = p.t1 === null ? '' : ' after ' + ms((p.t1 - p.t0) * 1000);
		const own = r.run === this.ctx.id;
		const link = el('a', {href: own ? `?e=${p.seq}` : `${runHref(r.run)}?e=${p.seq}`, tabindex: '-1'}, foreign(name));
		const row = el('div', {role: 'row', class: 'trow k-' + p.kind +
			(own && this.ctx.chosen?.span === p.i ? ' chosen' : ''),
		'aria-rowindex': r.at + 1, 'aria-level': r.level,
		'aria-expanded': r.has ? String(r.open) : null,
		'aria-label': `${p.kind} ${name}, ${stateWord(p)}${took}` +
			(p.turn >= 0 && p.kind !== 'turn' ? `, turn ${p.turn}` : ''),
		tabindex: r.at === Math.min(this.focus, this.rows.length - 1) ? '0' : '-1'},
		el('span', {role: 'gridcell', class: 'tcell'},
			el('span', {class: 'twist' + (r.has ? r.open ? ' down' : ' side' : ''),
				'aria-hidden': 'true'}), mark(look(p)), link,
			p.kind === 'plan' ? el('span.mute', ` ${p.actions}`) : null,
			p.child ? el('span.tag', 'run') : null));
		row.style.setProperty('--level', r.level);
		row.dataset.at = r.at;
		return row;
	}

	rowOf(target) {
		const e = target.closest?.('.trow');
		return e ? this.rows[+e.dataset.at] : null;
	}

	clicked(e) {
		const r = this.rowOf(e.target);
		if (!r || e.ctrlKey || e.metaKey) return;
		e.preventDefault();
		this.focus = r.at;
		if (e.target.closest('.twist')) return void this.toggle(r);
		this.choose(r);
	}

	choose(r) {
		if (r.run === this.ctx.id) this.ctx.select({span: r.p});
		else this.ctx.inspector.show({span: r.p, state: r.state, run: r.run});
	}

	rowKey(e) {
		const r = this.rowOf(e.target);
		if (!r) return;
		const go = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9}[e.key];
		if (go) this.move(go);
		else if (e.key === 'ArrowRight' && r.has && !r.open) this.toggle(r, true);
		else if (e.key === 'ArrowRight') this.move(1);
		else if (e.key === 'ArrowLeft' && r.has && r.open) this.toggle(r, false);
		else if (e.key === 'ArrowLeft') {
			let i = r.at;
			while (i > 0 && this.rows[i].level >= r.level) i--;
			this.move(i - r.at);
		} else if (e.key === 'Enter') this.choose(r);
		else if (e.key === ' ') this.toggle(r);
		else return;
		e.preventDefault();
	}

	move(by) {
		this.focus = Math.max(0, Math.min(this.rows.length - 1, this.focus + by));
		this.into(this.focus);
		this.putKey = null;
		this.draw();
		this.box.querySelector('[tabindex="0"]')?.focus({preventScroll: true});
	}

	/* ---- Pointer ------------------------------------------------------------------------ */

	hit(e) {
		const b = this.canvas.getBoundingClientRect(), x = e.clientX - b.left;
		const y = e.clientY - b.top;
		if (y < AXIS || !this.last) return null;
		const r = this.rows[Math.floor((y - AXIS + this.scroll.scrollTop) / this.rowHeight())];
		if (!r) return null;
		let p = r.state.spans[r.p];
		if (r.inner) p = this.nearest(r, x) ?? p;
		const x0 = this.last.x(p.t0), x1 = this.last.x(p.t1 ?? this.ctx.now());
		return {r, p, near: x >= x0 - NEAR && x <= x1 + NEAR, x, y: e.clientY};
	}

	/* The span of a folded row that is nearest to a place: they are in order. */
	nearest(r, x) {
		let lo = 0, hi = r.inner.length - 1;
		while (lo < hi) {
			const mid = (lo + hi + 1) >> 1;
			if (this.last.x(r.inner[mid].t0) <= x + NEAR) lo = mid;
			else hi = mid - 1;
		}
		return r.inner[lo];
	}

	moved(e) {
		const b = this.canvas.getBoundingClientRect();
		if (this.drag) {
			this.drag.x1 = e.clientX - b.left;
			return this.soon();
		}
		const h = this.hit(e);
		if (h?.near) this.showTip({...h.r, p: h.p.i}, e);
		else this.tip.hidden = true;
	}

	showTip(r, e) {
		const p = r.state.spans[r.p], t = this.tip;
		const rows = [el('b', foreign(oneLine(label(p), 80)))];
		const line = text => rows.push(el('div', text));
		line(`${stateWord(p, this.ctx.now())}, ${ms(((p.t1 ?? this.ctx.now()) - p.t0) * 1000)}`);
		line(`${when(p.t0, this.state.t0, true)}, event ${p.seq}`);
		if (p.ask) line(`waited ${ms(((p.ask.t1 ?? this.ctx.now()) - p.ask.t0) * 1000)} for approval`);
		if (p.usage) line(`${count(p.usage.input)} in, ${count(p.usage.output)} out, ` +
			cost(p.usage.cost));
		if (p.error) line(oneLine(p.error.message, 160));
		t.replaceChildren(...rows);
		t.hidden = false;
		const box = this.node.getBoundingClientRect();
		const at = e ? {x: e.clientX, y: e.clientY} : (() => {
			const q = document.activeElement.getBoundingClientRect();
			return {x: q.right, y: q.bottom};
		})();
		const x = Math.min(at.x - box.left + 12, box.width - t.offsetWidth - 8);
		let y = at.y - box.top + 16;
		if (y + t.offsetHeight > box.height) y = at.y - box.top - t.offsetHeight - 12;
		t.style.setProperty('transform', `translate(${Math.max(4, x)}px, ${y}px)`);
	}

	down(e) {
		if (e.button || e.pointerType === 'touch') return;
		const b = this.canvas.getBoundingClientRect();
		this.drag = {x0: e.clientX - b.left, x1: e.clientX - b.left};
		this.canvas.setPointerCapture(e.pointerId);
		this.tip.hidden = true;
	}

	up(e) {
		const d = this.drag;
		this.drag = null;
		if (!d || Math.abs(d.x1 - d.x0) < 4) {
			const h = this.hit(e);
			this.range_ = null;
			if (h) { this.focus = h.r.at; this.choose({...h.r, p: h.p.i}); }
			return this.soon();
		}
		const a = this.last.t(Math.min(d.x0, d.x1)), b = this.last.t(Math.max(d.x0, d.x1));
		this.range_ = this.sums(a, b);
		say(this.range_);
		this.range(this.last.virtual(a).v, this.last.virtual(b).v);
	}

	sums(a, b) {
		let calls = 0, failed = 0, models = 0, tokens = 0;
		for (const p of this.state.spans) {
			if (!leaf(p) || p.t0 > b || (p.t1 ?? b) < a) continue;
			if (p.kind === 'model') {
				models++;
				tokens += p.usage ? p.usage.input + p.usage.output : 0;
			} else calls++;
			if (BAD.has(p.state)) failed++;
		}
		return `${ms((b - a) * 1000)}: ${models} model, ${calls} calls` +
			(failed ? `, ${failed} bad` : '') + (tokens ? `, ${count(tokens)} tokens` : '');
	}

	wheel(e) {
		if (e.ctrlKey) {
			e.preventDefault();
			const b = this.canvas.getBoundingClientRect();
			this.zoom(Math.exp(e.deltaY * 0.003), Math.max(0, e.clientX - b.left));
		} else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) {
			if (this.v1 === null) return;
			e.preventDefault();
			this.pan(e.deltaX || e.deltaY);
		}
	}

	key(e) {
		const k = e.key;
		if (k === 'w') this.zoom(0.7);
		else if (k === 's') this.zoom(1 / 0.7);
		else if (k === 'a') this.pan(-80);
		else if (k === 'd') this.pan(80);
		else if (k === 'x') this.toggleCut();
		else if (k === 'c') this.toggleCrit();
		else if (k === '0') { this.range_ = null; this.fit(); }
		else if (k === 'f') this.fitChosen();
		else if (k === 'j') this.move(1);
		else if (k === 'k') this.move(-1);
		else return false;
		return true;
	}

	fitChosen() {
		const i = this.ctx.chosen?.span;
		if (!(i >= 0)) return this.fit();
		const p = this.state.spans[i], s = this.scale();
		const a = s.virtual(p.t0).v, b = s.virtual(p.t1 ?? this.ctx.now()).v;
		const pad = Math.max(0.001, (b - a) * 0.1);
		this.range(Math.max(0, a - pad), b + pad);
	}
}
