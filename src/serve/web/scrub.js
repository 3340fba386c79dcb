/* scrub.js - all of a run in 40 pixels, the slider through its events, and the
 * fork from where it stands. */
import {el, plain, oneLine, say, BAD, age, runHref, on} from './text.js';
import {again} from './fold.js';
import {segments, total, Scale, palette, hue, leaf} from './axis.js';
import * as api from './api.js';
import {go} from './main.js';

const HIGH = 40;
const OFTEN_MS = 250; /* between two pictures of a run that goes on */

export class Scrubber {
	constructor(ctx) {
		this.ctx = ctx;
		this.canvas = el('canvas.overview', {'aria-hidden': 'true'});
		this.ticks = el('canvas.ticks', {'aria-hidden': 'true'});
		this.input = el('input', {type: 'range', min: '1', max: '1', value: '1',
			class: 'scrub', 'aria-label': 'As of event'});
		this.note = el('span.as-of');
		this.past = el('div.past-bar', {hidden: true}, this.note,
			el('button', {type: 'button', on: {click: () => ctx.goTo(null)}}, 'Back to live'),
			el('button', {type: 'button', class: 'main', on: {click: () => this.fork()}},
				'Fork from here'));
		this.node = el('div.strip', this.canvas, el('div', {class: 'slide'},
			this.ticks, this.input), this.past);
		on(this.input, 'input', () => this.slid());
		on(this.input, 'keydown', e => this.key(e));
		on(this.canvas, 'pointerdown', e => this.down(e));
		on(this.canvas, 'pointermove', e => this.move(e));
		on(this.canvas, 'pointerup', e => this.up(e));
		on(this.canvas, 'dblclick', () => ctx.time.fit());
		new ResizeObserver(() => { this.w = 0; ctx.redraw = true; ctx.soon(); })
			.observe(this.canvas);
	}

	slid() {
		const seq = +this.input.value;
		this.ctx.goTo(seq >= this.ctx.log.state.seq ? null : seq);
	}

	/* Arrows move by an event (the input does that), with Shift by a turn. */
	key(e) {
		if (!e.shiftKey || !['ArrowLeft', 'ArrowRight'].includes(e.key)) return;
		e.preventDefault();
		const at = +this.input.value, turns = this.ctx.log.state.marks
			.filter(m => m.kind === 'turn').map(m => m.seq);
		const next = e.key === 'ArrowRight' ? turns.find(s => s > at) ??
			this.ctx.log.state.seq : turns.findLast(s => s < at) ?? 1;
		this.input.value = next;
		this.slid();
	}

	update(state) {
		const at = this.ctx.at ?? state.seq;
		this.input.max = state.seq;
		if (document.activeElement !== this.input || this.ctx.at === null)
			this.input.value = at;
		if (at !== this.told || state.seq !== this.seq) {
			this.told = at;
			const raw = this.ctx.log.raw[at - 1];
			let name = '';
			if (raw) {
				const d = /"name":"([^"\\]{1,60})"/.exec(raw.slice(0, 600));
				name = d ? ' ' + plain(d[1], 60) : '';
			}
			this.input.setAttribute('aria-valuetext', `event ${at} of ${state.seq}, ` +
				`${this.ctx.log.types[at - 1] ?? ''}${name}`);
			this.past.hidden = this.ctx.at === null;
			if (this.ctx.at !== null) this.note.textContent = `As of event ${at} of ${
				state.seq} (${this.ctx.log.types[at - 1]}${name}), ${age(this.ctx.past.time)} ago`;
		}
		const now = performance.now();
		const same = this.drawnSeq === state.seq && this.drawnZ === this.z() && this.w;
		if (!this.ctx.redraw && same && state.outcome) return;
		if (!this.ctx.redraw && now - (this.drawn ?? 0) < OFTEN_MS && this.w &&
			!state.outcome && this.drawnZ === this.z()) return;
		this.drawn = now;
		this.drawnSeq = this.seq = state.seq;
		this.drawnZ = this.z();
		this.paint(state);
	}

	z() { return `${this.ctx.time.v0}/${this.ctx.time.v1}/${this.ctx.at}`; }

	size() {
		const dpr = Math.min(2, devicePixelRatio || 1);
		this.w = this.canvas.clientWidth;
		for (const [c, h] of [[this.canvas, HIGH], [this.ticks, 8]]) {
			c.width = Math.round(this.w * dpr);
			c.height = Math.round(h * dpr);
			c.getContext('2d').setTransform(dpr, 0, 0, dpr, 0, 0);
		}
	}

	paint(state) {
		if (!this.canvas.clientWidth) return;
		if (!this.w || this.ctx.redraw) { this.size(); this.colours = palette(); }
		const g = this.canvas.getContext('2d'), c = this.colours, now = this.ctx.past ?
			this.ctx.log.state.time : this.ctx.now();
		const t = this.ctx.time, segs = segments(state, now, t.whole);
		const s = this.scale = new Scale(segs, 0, total(segs), this.w - 2);
		g.clearRect(0, 0, this.w, HIGH);
		/* A lane for each kind, a bin a pixel; what went wrong on top of all. */
		const bins = new Map(), bad = [];
		for (const p of state.spans) {
			if (!leaf(p)) continue;
			if (p.ask) {
				g.fillStyle = c.wait;
				const a = s.x(p.ask.t0);
				g.fillRect(a, 24, Math.max(2, s.x(p.ask.t1 ?? now) - a), 3);
				if (p.run0 === null) continue;
			}
			const x0 = Math.floor(s.x(p.run0 ?? p.t0)), x1 = Math.max(x0 + 1, Math.ceil(s.x(p.t1 ?? now)));
			if (BAD.has(p.state)) bad.push([p, x0, x1]);
			const lane = p.kind === 'model' ? 0 : 1, key = hue(c, p) + '/' + lane;
			if (!bins.has(key)) bins.set(key, new Uint8Array(this.w + 1));
			const row = bins.get(key);
			for (let x = Math.max(0, x0); x < x1 && x <= this.w; x++)
				if (row[x] < 4) row[x]++;
		}
		for (const [key, row] of bins) {
			const [colour, lane] = key.split('/');
			g.fillStyle = colour;
			for (let x = 0; x < row.length; x++) {
				if (!row[x]) continue;
				let e = x;
				while (e < row.length && row[e] === row[x]) e++;
				g.fillRect(x, lane === '0' ? 6 : 20, e - x, lane === '0' ? 8 : 2 + row[x] * 3);
				x = e - 1;
			}
		}
		for (const [p, a, b] of bad) {
			g.fillStyle = p.state === 'denied' ? c.deny : c.fail;
			g.fillRect(a, p.kind === 'model' ? 3 : 18, Math.max(2, b - a), p.kind === 'model' ? 14 : 17);
		}
		this.window(g, c, s, t);
		this.marks(state, c);
	}

	/* The part that the timeline shows, and where the slider stands. */
	window(g, c, s, t) {
		g.fillStyle = c.bg;
		if (t.v1 !== null) {
			const a = (t.v0 - s.v0) * s.k, b = (t.v1 - s.v0) * s.k;
			g.globalAlpha = 0.66;
			g.fillRect(0, 0, a, HIGH);
			g.fillRect(b, 0, this.w, HIGH);
			g.globalAlpha = 1;
			g.fillStyle = c.edge;
			g.fillRect(a - 1, 0, 2, HIGH);
			g.fillRect(b - 1, 0, 2, HIGH);
		}
		if (this.ctx.at !== null) {
			const x = s.x(this.ctx.past.time);
			g.fillStyle = c.ink;
			g.fillRect(x - 1, 0, 2, HIGH);
		}
		if (this.drag) {
			g.fillStyle = c.run;
			g.globalAlpha = 0.18;
			g.fillRect(Math.min(this.drag.a, this.drag.b), 0, Math.abs(this.drag.b - this.drag.a), HIGH);
			g.globalAlpha = 1;
		}
	}

	/* Turns, failures, questions and forks above the slider. */
	marks(state, c) {
		const g = this.ticks.getContext('2d'), n = Math.max(1, state.seq - 1);
		g.clearRect(0, 0, this.w, 8);
		const x = seq => 8 + (seq - 1) / n * (this.w - 16);
		const turns = state.marks.filter(m => m.kind === 'turn').length;
		for (const kind of ['turn', 'fork', 'ask', 'bad']) {
			if (kind === 'turn' && turns > this.w / 4) continue;
			g.fillStyle = {turn: c.edge, fork: c.run, ask: c.wait, bad: c.fail}[kind];
			for (const m of state.marks) if (m.kind === kind)
				g.fillRect(x(m.seq) - 0.5, kind === 'turn' ? 4 : 1, kind === 'turn' ? 1 : 2, kind === 'turn' ? 4 : 7);
		}
	}

	at(e) { return e.clientX - this.canvas.getBoundingClientRect().left; }

	down(e) {
		this.drag = {a: this.at(e), b: this.at(e)};
		this.canvas.setPointerCapture(e.pointerId);
	}

	move(e) {
		if (!this.drag) return;
		this.drag.b = this.at(e);
		this.ctx.redraw = true;
		this.ctx.soon();
	}

	up() {
		const d = this.drag;
		this.drag = null;
		if (!d || !this.scale || Math.abs(d.a - d.b) < 4) return;
		const [a, b] = [Math.min(d.a, d.b), Math.max(d.a, d.b)].map(x =>
			this.scale.virtual(this.scale.t(x)).v);
		this.ctx.time.range(a, b);
		this.ctx.redraw = true;
		this.ctx.soon();
	}

	/* -- The fork sheet */

	async fork() {
		const log = this.ctx.log, seq = this.ctx.at ?? log.state.seq;
		const {calls, unsafe, open} = again(log.state, seq);
		const text = el('textarea', {rows: 3, dir: 'auto', id: 'fork-say'});
		const result = open ? el('textarea', {rows: 3, dir: 'auto', id: 'fork-result'}) : null;
		const model = el('input', {type: 'text', id: 'fork-model', list: 'fork-models',
			placeholder: plain(log.state.run?.model ?? '', 60)});
		const turns = el('input', {type: 'number', min: '1', id: 'fork-turns',
			placeholder: String(log.state.run?.limits?.turns || '')});
		const why = el('p.why', {role: 'alert', hidden: true});
		const make = el('button.main', 'Fork');
		const form = el('form', {method: 'dialog', class: 'sheet'}, el('h2', `Fork after event ${seq}`),
			el('p', `${seq} events shared; ${calls} call${calls === 1 ? '' : 's'} after it ` +
				`may run again, ${unsafe} unsafe.`), el('label', {for: 'fork-say'}, 'Message'), text,
			...(result ? [el('label', {for: 'fork-result'}, `Result of ${oneLine(open.name, 60)} (${
				oneLine(open.key, 40)}), which is open here`), result] : []),
			el('div.line', el('label', {for: 'fork-model'}, 'Model'), model,
				el('label', {for: 'fork-turns'}, 'Turns'), turns),
			why, el('div.buttons', el('button', {type: 'button',
				on: {click: () => dialog.close()}}, 'Cancel'), make));
		const dialog = el('dialog', {'aria-label': 'Fork'}, form), key = api.idempotency();
		on(form, 'submit', async e => {
			e.preventDefault();
			make.disabled = true;
			const body = {at: seq, run: true};
			if (text.value.trim()) body.say = text.value;
			if (result?.value) body.results = [{call: open.key, output: result.value}];
			if (model.value.trim()) body.model = model.value.trim();
			if (turns.value) body.limits = {turns: +turns.value};
			try {
				const r = await api.post(api.run(this.ctx.id, '/fork'), body, key);
				dialog.close();
				say('forked');
				go(runHref(r.run));
			} catch (err) {
				why.hidden = false;
				why.textContent = plain(err.message, 400);
				make.disabled = false;
			}
		});
		on(dialog, 'close', () => dialog.remove());
		document.body.append(dialog);
		dialog.showModal();
	}
}
