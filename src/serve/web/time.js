/* time.js - the timeline: names as elements, bars on one canvas of the size of
 * the window. Only visible rows are touched. */
import {el, button, foreign, oneLine, mark, ms, count, cost, stateWord, when, say, look, label, css, on, frames,
	BAD, runHref} from './text.js';
import {segments, total, Scale, CUT, step, critical, palette, sharp, fill, hatch, bar, leaf} from './axis.js';
import * as api from './api.js';
import {query} from './main.js';

const AXIS = 24, H = 12;
const MANY = 400; /* spans from which on turns begin folded */
const NEAR = 6;
const EXTRA = 10; /* rows beyond the window */

const shown = p => p.kind !== 'context' || p.t1 - p.t0 > 0.05;

export class Timeline {
	constructor(ctx) {
		Object.assign(this, {ctx, rows: [], folds: new Map(), kids: new Map(), v0: 0, focus: 0,
			v1: null, /* null: follows the end */ version: 0, path: {path: new Set(), ms: 0}});
		this.soon = frames(() => this.draw());
		const tool = (text, title, f) => button(text, f, {title});
		this.sum = el('span');
		this.liveChip = button('Live', () => this.fit(), {class: 'chip-live', hidden: true});
		this.cutButton = tool('True time', 'x: idle times at their length', () => this.toggleCut());
		this.critButton = tool('Critical path', 'c: only what the end waited for', () => this.toggleCrit());
		const hide = () => { this.tip.hidden = true; };
		this.canvas = el('canvas', {'aria-hidden': 'true', on: {pointermove: e => this.moved(e), pointerleave: hide,
			pointerdown: e => this.down(e), pointerup: e => this.up(e), dblclick: () => this.fit()}});
		this.box = el('div', {role: 'rowgroup'});
		this.labels = el('div.time-labels', {role: 'treegrid', 'aria-label': 'Timeline rows', on: {
			keydown: e => this.rowKey(e), click: e => this.clicked(e), focusout: hide, focusin: e => {
				const r = this.rowOf(e.target);
				if (r) { this.focus = r.at; this.showTip(r); }
			}}}, this.box);
		this.sizer = el('div', el('div.time-view', this.labels, this.canvas));
		this.scroll = el('div.time-scroll', {tabindex: '-1'}, this.sizer);
		this.tip = el('div.tip', {hidden: true, role: 'tooltip'});
		this.node = el('div.time', el('div.time-tools', this.sum, el('span.grow'), this.liveChip,
			this.critButton, this.cutButton, tool('Fit', '0: all of it', () => this.fit())), this.scroll, this.tip);
		on(this.scroll, 'scroll', () => this.soon(), {passive: true});
		on(this.scroll, 'wheel', e => this.wheel(e), {passive: false});
		this.resize = new ResizeObserver(() => { this.sized = false; this.soon(); });
		this.resize.observe(this.scroll);
	}

	close() { this.resize.disconnect(); }

	/* -- Rows */

	list(state, run, level, out) {
		const kids = Map.groupBy(state.spans.filter(shown), p => p.parent), many = state.spans.length > MANY;
		const only = this.onlyPath && level === 1 && this.path.path;
		const walk = (of, deep) => {
			for (const p of deep < 40 && kids.get(of) || []) {
				const id = run + '/' + p.i, inner = kids.get(p.i), has = !!(inner || p.child);
				const open = has && (only || (this.folds.get(id) ??
					!(p.child || many && p.kind === 'turn' && p.t1 !== null)));
				if (!only || only.has(p.i)) out.push({id, run, state, p: p.i, level: only ? 1 : deep,
					has: has && !only, open, at: out.length, inner: !open && inner});
				if (!open) continue;
				walk(p.i, deep + 1);
				const log = this.folds.get(id) && this.kids.get(p.child);
				if (log?.state.run) this.list(log.state, p.child, deep + 1, out);
			}
		};
		walk(-1, level);
		return out;
	}

	update(state, force) {
		const key = `${state.seq}/${this.version}/${this.onlyPath}`, now = performance.now();
		this.state = state;
		if (force) this.colours = null;
		if (key !== this.key || force) {
			this.key = key;
			/* Again when something ended, not more than once a second. */
			const ends = state.spans.reduce((n, p) => n + (p.t1 !== null), 0);
			if (force || ends !== this.ends && (now - (this.pathAt ?? 0) > 1000 || state.outcome)) {
				this.ends = ends;
				this.pathAt = now;
				this.path = critical(state);
			}
			this.rows = this.list(state, this.ctx.id, 1, []);
			this.labels.setAttribute('aria-rowcount', this.rows.length);
		}
		this.draw();
	}

	changed() {
		this.version++;
		if (this.state) this.update(this.ctx.state);
	}

	reveal(i) {
		const {spans} = this.ctx.state;
		for (let p = spans[i]?.parent ?? -1; p >= 0; p = spans[p].parent) this.folds.set(`${this.ctx.id}/${p}`, true);
		this.changed();
		const row = this.rows.find(r => r.run === this.ctx.id && r.p === i);
		if (row) this.into(row.at);
	}

	into(at) {
		const h = this.rowHeight(), y = at * h, v = this.scroll;
		if (y < v.scrollTop) v.scrollTop = y;
		else v.scrollTop = Math.max(v.scrollTop, y + 2 * h + AXIS - v.clientHeight);
	}

	rowHeight() {
		return this.tall ??= matchMedia('(pointer: coarse), (max-width: 699px)').matches ? 44 : 24;
	}

	async toggle(row, open = !row.open) {
		const {child} = row.state.spans[row.p];
		if (!row.has) return;
		this.folds.set(row.id, open);
		if (child && open && !this.kids.has(child)) try {
			this.kids.set(child, await api.load(child));
		} catch (e) {
			say(e.message);
		}
		this.changed();
	}

	/* -- The window */

	scale() {
		this.segs = segments(this.state, this.ctx.now(), this.whole);
		this.all = total(this.segs);
		if (this.v1 === null) this.v0 = 0;
		this.liveChip.hidden = this.v1 === null || !!this.state.outcome;
		return new Scale(this.segs, this.v0, this.v1 ?? this.all * (1 + 60 / Math.max(200, this.w)), this.w - 8);
	}

	fit() { this.v1 = this.picked = null; query({z: null}); this.soon(); }

	/* z=from-to in seconds since the start. */
	zoomTo(z) {
		const m = /^([\d.]+)-([\d.]+)$/.exec(z);
		if (m && +m[2] > +m[1]) { this.v0 = +m[1]; this.v1 = +m[2]; this.soon(); }
	}

	zoom(factor, x = this.w / 2) {
		const s = this.scale(), mid = s.virtual(s.t(x)).v;
		const a = mid - (mid - this.v0) * factor, b = mid + ((this.v1 ?? this.all) - mid) * factor;
		if (b - a > 0.002) this.range(Math.max(0, a), Math.min(this.all * 1.05, b));
	}

	range(a, b, all = this.all) {
		if (a <= 0 && b >= all) return this.fit();
		this.v0 = a;
		this.v1 = b;
		query({z: a.toFixed(3) + '-' + b.toFixed(3)});
		this.soon();
	}

	pan(px) {
		if (this.v1 === null) return;
		const s = this.scale(), w = this.v1 - this.v0;
		const a = Math.max(0, Math.min(this.all - w, this.v0 + px / s.k));
		this.range(a, a + w, Infinity);
	}

	fitChosen() {
		const p = this.state.spans[this.ctx.chosen?.span], s = this.scale();
		if (!p) return this.fit();
		const a = s.virtual(p.t0).v, b = s.virtual(p.t1 ?? this.ctx.now()).v, pad = (b - a) * 0.1 + 0.001;
		this.range(Math.max(0, a - pad), b + pad);
	}

	toggleCut() {
		this.whole = !this.whole;
		this.cutButton.setAttribute('aria-pressed', this.whole);
		this.fit();
	}

	toggleCrit() {
		this.onlyPath = !this.onlyPath;
		this.critButton.setAttribute('aria-pressed', this.onlyPath);
		this.update(this.state, true);
	}

	/* -- Drawing */

	size() {
		this.tall = null;
		this.h = this.scroll.clientHeight;
		css(this.sizer.firstChild, 'height', this.h + 'px');
		this.w = Math.max(50, this.sizer.clientWidth - this.labels.offsetWidth);
		css(this.canvas, 'width', this.w + 'px');
		css(this.canvas, 'height', this.h + 'px');
		this.dpr = sharp(this.canvas, this.w, this.h);
		this.sized = true;
	}

	draw() {
		if (!this.state?.run || !this.scroll.clientHeight) return;
		const h = this.rowHeight(), n = this.rows.length;
		css(this.sizer, 'height', AXIS + n * h + 8 + 'px');
		if (!this.sized) this.size();
		this.colours ??= palette();
		const first = Math.max(0, Math.floor(this.scroll.scrollTop / h));
		const last = Math.min(n, first + Math.ceil(this.h / h) + 1);
		this.put(Math.max(0, first - EXTRA), Math.min(n, last + EXTRA), h);
		this.paint(first, last, h);
		const text = this.picked ?? (this.path.ms ? `critical path ${ms(this.path.ms)} of ${
			ms((this.ctx.now() - this.state.t0) * 1000)}` : '');
		if (this.sum.textContent !== text) this.sum.textContent = text;
	}

	paint(first, last, h) {
		const g = this.g = this.canvas.getContext('2d'), c = this.colours, s = this.last = this.scale(), d = this.drag;
		g.clearRect(0, 0, this.w, this.h);
		g.font = '12px ' + getComputedStyle(document.body).fontFamily;
		g.textBaseline = 'middle';
		this.grid(g, c, s);
		g.save();
		g.beginPath();
		g.rect(0, AXIS, this.w, this.h);
		g.clip();
		for (let i = first; i < last; i++) {
			const r = this.rows[i], y = AXIS + (i + 0.5) * h - this.scroll.scrollTop;
			if (this.isChosen(r)) this.fill(c.line, 0, y - h / 2, this.w, h, 0.45);
			this.row(c, s, r, r.state.spans[r.p], y);
		}
		g.restore();
		if (d) this.fill(c.run, Math.min(d.x0, d.x1), 0, Math.abs(d.x1 - d.x0), this.h, 0.12);
	}

	isChosen(r) { return r.run === this.ctx.id && r.p === this.ctx.chosen?.span; }

	fill(...args) { fill(this.g, ...args); }

	grid(g, c, s) {
		const d = step(s.k), {t0} = this.state;
		this.fill(c.line, 0, AXIS - 1, this.w, 1);
		for (let i = s.first; i < this.segs.length; i++) {
			const q = this.segs[i], next = this.segs[i + 1];
			if (s.x(q.a) > this.w) break;
			for (let n = Math.ceil((Math.max(q.a, s.t(0)) - t0) / d - 1e-6); t0 + n * d <= q.b; n++) {
				const x = Math.round(s.x(t0 + n * d)), text = this.tick(t0 + n * d, n * d, d);
				if (x > this.w) break;
				this.fill(c.line, x, AXIS - 5, 1, this.h);
				g.fillStyle = c.mute;
				if (x + g.measureText(text).width + 6 < this.w) g.fillText(text, x + 4, AXIS / 2);
			}
			if (next) this.cut(g, c, s.x(q.b), ms((next.a - q.b) * 1000) + (q.why ? ', ' + q.why : ''));
		}
	}

	tick(t, since, d) {
		const w = when(t, this.state.t0, d < 1);
		return w[0] !== '+' ? d < 0.1 ? w : w.replace(/(\.\d)\d\d/, '$1') :
			since ? ms(since * 1000).replace(/\.0 s$/, ' s') : '0';
	}

	cut(g, c, x, text) {
		this.fill(c.sunk, x, 0, CUT, this.h);
		this.fill(hatch(g, c.line, this.dpr), x, AXIS, CUT, this.h);
		g.save();
		g.fillStyle = c.ink;
		g.translate(x + CUT / 2, AXIS + 8);
		g.rotate(Math.PI / 2);
		g.fillText(text, 0, 0);
		g.restore();
	}

	bar(kind, state, x0, x1, y, h = H) { bar(this.g, this.colours, kind, state, x0, x1, y, h, this.dpr); }

	row(c, s, r, p, y) {
		const now = this.ctx.now(), x0 = s.x(p.t0), x1 = Math.max(x0 + 2, s.x(p.t1 ?? now)), a = p.ask;
		if (x1 < -200 || x0 > this.w + 50) return;
		if (leaf(p)) {
			if (a) this.bar(p.kind, 'waiting', s.x(a.t0), s.x(a.t1 ?? now), y);
			const list = p.pieces?.length ? p.pieces : a ? [] : [p];
			list.forEach((q, i) => this.piece(c, s, p, q, i, list, y, now));
			if (a && p.state === 'denied' && !p.run0) this.bar(p.kind, 'denied', x1 - 4, x1, y);
		} else this.bracket(c, s, r, p, x0, x1, y, now);
		if (r.run === this.ctx.id && this.path.path.has(p.i)) this.fill(c.ink, x0, y + H / 2 + 1, x1 - x0, 2);
		this.word(this.g, c, p, x0, x1, y, now);
	}

	/* An attempt, after a dotted delay; a model is pale until its first token. */
	piece(c, s, p, q, i, list, y, now) {
		const g = this.g, a = s.x(q.t0), b = Math.max(a + 2, s.x(q.t1 ?? Math.max(now, q.t0)));
		const end = i === list.length - 1, open = q.t1 === null, state = open ? 'running' : end ? look(p) : q.state;
		for (let x = i ? s.x(list[i - 1].t1) : a; x < a; x += 4) this.fill(c.mute, x, y, 1, 1);
		if (p.kind === 'model' && (state === 'ok' || open)) {
			const first = end ? p.first : null;
			const m = first ? Math.max(a, Math.min(b, s.x(first))) : open ? b : a;
			g.globalAlpha = 0.38;
			if (m - a > 1) this.bar(p.kind, open && !first ? 'running' : 'ok', a, m, y);
			g.globalAlpha = 1;
			if (first || !open) this.bar(p.kind, state, m, b, y);
		} else this.bar(p.kind, state, a, b, y);
		g.fillStyle = c.panel;
		if (list.length > 1 && b - a > 14) g.fillText(i + 1, a + 4, y + 0.5);
	}

	/* Turns and plans: a thin line over their children, or, folded, all of them;
	 * what went wrong on top, so that nothing hides it. */
	bracket(c, s, r, p, x0, x1, y, now) {
		if (!r.inner) {
			this.fill(c.edge, x0, y - 1, x1 - x0, 2);
			this.fill(c.edge, x0, y - 4, 1, 8);
			if (p.t1 !== null) this.fill(c.edge, x1 - 1, y - 4, 1, 8);
			return;
		}
		const bad = [], walk = (list, deep) => {
			for (const q of list) {
				const a = s.x(q.t0), b = s.x(q.t1 ?? now);
				if (leaf(q) && BAD.has(q.state)) bad.push([q, a, Math.max(b, a + 3)]);
				else if (leaf(q)) this.bar(q.kind, look(q), a, b, y, q.kind === 'model' ? 10 : 6);
				if (deep < 3) walk(r.state.spans.slice(q.i + 1, q.i + 64).filter(k => k.parent === q.i), deep + 1);
			}
		};
		this.fill(c.edge, x0, y + 5, x1 - x0, 1, 0.5);
		if (x1 - x0 > 3) walk(r.inner, 0);
		for (const [q, a, b] of bad) this.bar(q.kind, q.state, a, b, y, 10);
	}

	/* The word stands after the bar, or before it where the edge would cut it. */
	word(g, c, p, x0, x1, y, now) {
		const turn = p.kind === 'turn', took = ((p.t1 ?? now) - (p.run0 ?? p.t0)) * 1000;
		if (turn && !p.failed && (p.state === 'ok' || p.t1 === null)) return;
		let text = p.state === 'ok' && !p.cached ? turn ? `${p.failed} failed` : ms(took) :
			stateWord({...p, t0: p.run0 ?? p.t0}, now);
		if (!['ok', 'running', 'waiting', 'skipped'].includes(p.state) && took >= 1) text += ', ' + ms(took);
		const w = g.measureText(text).width, bad = BAD.has(p.state);
		let x = x1 + w + 8 < this.w ? Math.max(4, x1 + 6) : x0 - w - 6, colour = p.state === 'denied' ? c.deny :
			bad ? c.fail : p.state === 'waiting' ? c.wait : c.mute;
		if (x < 0) {
			x = Math.max(4, Math.min(this.w - w - 6, x0 + 6));
			this.fill(c.panel, x - 3, y - 7, w + 6, 14, 0.85);
			colour = c.ink;
		}
		g.fillStyle = colour;
		g.fillText(text, x, y + 0.5);
	}

	/* -- Labels: the visible rows, as a treegrid */

	put(from, to, h) {
		const list = this.rows.slice(from, to), spans = list.map(r => r.state.spans[r.p]);
		const key = `${this.key}/${from}/${to}/${this.ctx.chosen?.span}`;
		css(this.box, 'transform', `translateY(${AXIS + from * h - this.scroll.scrollTop}px)`);
		if (key === this.putKey && spans.every((p, i) => p === this.putSpans[i])) return;
		this.putKey = key;
		this.putSpans = spans;
		const held = this.labels.contains(document.activeElement);
		this.box.replaceChildren(...list.map(r => this.labelRow(r)));
		if (held) this.refocus();
	}

	refocus() { this.box.querySelector('[tabindex="0"]')?.focus({preventScroll: true}); }

	labelRow(r) {
		const p = r.state.spans[r.p], name = label(p);
		const row = el('div.trow.k-' + p.kind, {role: 'row', class: this.isChosen(r) && 'chosen',
			'aria-rowindex': r.at + 1, 'aria-level': r.level, 'aria-expanded': r.has ? String(!!r.open) : null,
			'aria-label': `${p.kind} ${name}, ${stateWord(p)}${p.t1 === null ? '' : ' after ' + ms((p.t1 - p.t0) * 1000)}` +
				(p.turn >= 0 && p.kind !== 'turn' ? `, turn ${p.turn}` : ''),
			tabindex: r.at === Math.min(this.focus, this.rows.length - 1) ? 0 : -1, 'data-at': r.at},
		el('span.tcell', {role: 'gridcell'}, el('span.twist', {class: r.has && (r.open ? 'down' : 'side')}), mark(look(p)),
			el('a', {href: `${r.run === this.ctx.id ? '' : runHref(r.run)}?e=${p.seq}`, tabindex: -1}, foreign(name)),
			p.kind === 'plan' && el('span.mute', p.actions), p.child && el('span.tag', 'run')));
		css(row, '--level', r.level);
		return row;
	}

	rowOf(target) { return this.rows[target.closest('.trow')?.dataset.at]; }

	clicked(e) {
		const r = this.rowOf(e.target);
		if (!r || e.ctrlKey || e.metaKey) return;
		e.preventDefault();
		this.focus = r.at;
		if (e.target.closest('.twist')) this.toggle(r);
		else this.choose(r);
	}

	choose(r) {
		if (r.run === this.ctx.id) this.ctx.select({span: r.p});
		else this.ctx.inspector.show({span: r.p, state: r.state, run: r.run});
	}

	rowKey(e) {
		const r = this.rowOf(e.target), k = e.key;
		if (!r) return;
		const by = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9}[k];
		if (by) this.move(by);
		else if (k === 'ArrowRight') r.has && !r.open ? this.toggle(r, true) : this.move(1);
		else if (k === 'ArrowLeft' && r.has && r.open) this.toggle(r, false);
		else if (k === 'ArrowLeft') this.move(Math.max(0, this.rows.findLastIndex((q, i) =>
			i < r.at && q.level < r.level)) - r.at);
		else if (k === 'Enter') this.choose(r);
		else if (k === ' ') this.toggle(r);
		else return;
		e.preventDefault();
	}

	move(by) {
		this.focus = Math.max(0, Math.min(this.rows.length - 1, this.focus + by));
		this.into(this.focus);
		this.putKey = null;
		this.draw();
		this.refocus();
	}

	/* -- Pointer */

	at(e) { return e.clientX - this.canvas.getBoundingClientRect().left; }

	/* The row by y, in it the nearest span by x. */
	hit(e) {
		const x = this.at(e), y = e.clientY - this.canvas.getBoundingClientRect().top;
		const r = y >= AXIS && this.rows[Math.floor((y - AXIS + this.scroll.scrollTop) / this.rowHeight())], s = this.last;
		if (!r) return null;
		let p = r.state.spans[r.p];
		if (r.inner) p = r.inner.findLast(q => s.x(q.t0) <= x + NEAR) ?? p;
		return {...r, p: p.i, near: x >= s.x(p.t0) - NEAR && x <= s.x(p.t1 ?? this.ctx.now()) + NEAR};
	}

	moved(e) {
		if (this.drag) { this.drag.x1 = this.at(e); return this.soon(); }
		const h = this.hit(e);
		if (h?.near) this.showTip(h, e);
		else this.tip.hidden = true;
	}

	showTip(r, e) {
		const p = r.state.spans[r.p], t = this.tip, now = this.ctx.now(), u = p.usage, a = p.ask;
		t.replaceChildren(el('b', foreign(label(p))), ...[
			`${stateWord(p, now)}, ${ms(((p.t1 ?? now) - p.t0) * 1000)}`,
			`${when(p.t0, this.state.t0, true)}, event ${p.seq}`,
			a && `waited ${ms(((a.t1 ?? now) - a.t0) * 1000)} for approval`,
			u && u.input + u.output && `${count(u.input)} in, ${count(u.output)} out, ${cost(u.cost)}`,
			p.error && oneLine(p.error.message, 160)].filter(Boolean).map(x => el('div', x)));
		t.hidden = false;
		const box = this.node.getBoundingClientRect(), f = document.activeElement.getBoundingClientRect();
		const x = (e ? e.clientX : f.right) - box.left, y = (e ? e.clientY : f.bottom) - box.top;
		css(t, 'transform', `translate(${Math.max(4, Math.min(x + 12, box.width - t.offsetWidth - 8))}px,${
			y + 16 + t.offsetHeight > box.height ? y - t.offsetHeight - 12 : y + 16}px)`);
	}

	down(e) {
		if (e.button || e.pointerType === 'touch') return;
		this.drag = {x0: this.at(e), x1: this.at(e)};
		this.canvas.setPointerCapture(e.pointerId);
		this.tip.hidden = true;
	}

	/* A click chooses; a drag zooms to a range and says its sums. */
	up(e) {
		const d = this.drag, s = this.last;
		this.drag = null;
		if (!d || Math.abs(d.x1 - d.x0) < 4) {
			const h = this.hit(e);
			if (h) { this.focus = h.at; this.choose(h); }
			return this.soon();
		}
		const a = s.t(Math.min(d.x0, d.x1)), b = s.t(Math.max(d.x0, d.x1));
		this.range(s.virtual(a).v, s.virtual(b).v);
		say(this.picked = this.sums(a, b));
	}

	sums(a, b) {
		const list = this.state.spans.filter(p => leaf(p) && p.t0 <= b && (p.t1 ?? b) >= a);
		const models = list.filter(p => p.kind === 'model'), bad = list.filter(p => BAD.has(p.state)).length;
		const tokens = models.reduce((n, {usage: u}) => n + (u ? u.input + u.output : 0), 0);
		return `${ms((b - a) * 1000)}: ${models.length} model, ${list.length - models.length} calls` +
			(bad ? `, ${bad} bad` : '') + (tokens ? `, ${count(tokens)} tokens` : '');
	}

	wheel(e) {
		if (e.ctrlKey) this.zoom(Math.exp(e.deltaY * 0.003), Math.max(0, this.at(e)));
		else if (this.v1 !== null && (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey)) this.pan(e.deltaX || e.deltaY);
		else return;
		e.preventDefault();
	}

	key({key}) {
		const f = {__proto__: null, w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), a: () => this.pan(-80), d: () => this.pan(80),
			x: () => this.toggleCut(), c: () => this.toggleCrit(), 0: () => this.fit(), f: () => this.fitChosen(),
			j: () => this.move(1), k: () => this.move(-1)};
		f[key]?.();
		return key in f;
	}
}
