/* scrub.js - all of a run in 40 pixels, the slider through its events, and the
 * fork from where it stands. */
import {el, button, plain, oneLine, say, age, on, sheet, runHref, BAD} from './text.js';
import {again} from './fold.js';
import {segments, total, Scale, palette, sharp, fill, hue, leaf} from './axis.js';
import * as api from './api.js';
import {go} from './main.js';

const HIGH = 40;
const OFTEN_MS = 250; /* between two pictures of a run that goes on */

export class Scrubber {
	constructor(ctx) {
		this.ctx = ctx;
		this.canvas = el('canvas.overview', {'aria-hidden': 'true', on: {
			pointerdown: e => {
				this.drag = [this.at(e), this.at(e)];
				this.canvas.setPointerCapture(e.pointerId);
			},
			pointermove: e => {
				if (!this.drag) return;
				this.drag[1] = this.at(e);
				ctx.again();
			},
			pointerup: () => this.up(), dblclick: () => ctx.time.fit()}});
		this.ticks = el('canvas.ticks', {'aria-hidden': 'true'});
		this.input = el('input.scrub', {type: 'range', min: 1, max: 1, 'aria-label': 'As of event',
			on: {input: () => ctx.goTo(+this.input.value), keydown: e => this.key(e)}});
		this.note = el('span.as-of');
		this.past = el('div.past-bar', {hidden: true}, this.note, button('Back to live', () => ctx.goTo(null)),
			button('Fork from here', () => this.fork(), {class: 'main'}));
		this.node = el('div.strip', this.canvas, el('div.slide', this.ticks, this.input), this.past);
		new ResizeObserver(() => { this.w = 0; ctx.again(); }).observe(this.canvas);
	}

	at(e) { return e.clientX - this.canvas.getBoundingClientRect().left; }

	/* Arrows move by an event (the input does that), with Shift by a turn. */
	key(e) {
		const right = e.key === 'ArrowRight', at = +this.input.value, {marks, seq} = this.ctx.log.state;
		if (!e.shiftKey || !right && e.key !== 'ArrowLeft') return;
		e.preventDefault();
		const turns = marks.filter(m => m.kind === 'turn').map(m => m.seq);
		this.ctx.goTo(this.input.value = right ? turns.find(s => s > at) ?? seq : turns.findLast(s => s < at) ?? 1);
	}

	update(state) {
		const {log, at: past, redraw, time} = this.ctx, at = past ?? state.seq, told = `${at}/${state.seq}`;
		if (told !== this.told) {
			this.told = told;
			this.input.max = state.seq;
			this.input.value = at;
			const name = /"name":"([^"\\]{1,60})"/.exec(log.raw[at - 1]?.slice(0, 600));
			const what = log.types[at - 1] + (name ? ' ' + plain(name[1], 60) : '');
			this.input.setAttribute('aria-valuetext', `event ${at} of ${state.seq}, ${what}`);
			this.past.hidden = past === null;
			if (past !== null) this.note.textContent = `As of event ${at} of ${state.seq} (${what}), ${age(this.ctx.past.time)} ago`;
		}
		const now = performance.now(), key = `${time.v0}/${time.v1}/${past}/${state.outcome && state.seq}`;
		if (!redraw && key === this.drawn && this.w && (state.outcome || now - this.drew < OFTEN_MS)) return;
		this.drawn = key;
		this.drew = now;
		if (this.canvas.clientWidth) this.paint(state, redraw);
	}

	size() {
		this.w = this.canvas.clientWidth;
		sharp(this.canvas, this.w, HIGH);
		sharp(this.ticks, this.w, 8);
		this.colours = palette();
	}

	paint(state, force) {
		if (!this.w || force) this.size();
		const g = this.canvas.getContext('2d'), c = this.colours, t = this.ctx.time;
		const now = this.ctx.past ? state.time : this.ctx.now(), segs = segments(state, now, t.whole);
		const s = this.scale = new Scale(segs, 0, total(segs), this.w - 2), bins = new Map(), bad = [];
		g.clearRect(0, 0, this.w, HIGH);
		/* A lane for each kind, a bin a pixel; what went wrong on top of all. */
		for (const p of state.spans) {
			if (!leaf(p)) continue;
			const a = p.ask, x0 = Math.max(0, Math.floor(s.x(p.run0 ?? p.t0))), x1 = Math.max(x0 + 1, Math.ceil(s.x(p.t1 ?? now)));
			if (a) fill(g, c.wait, s.x(a.t0), 24, Math.max(2, s.x(a.t1 ?? now) - s.x(a.t0)), 3);
			if (BAD.has(p.state)) bad.push([p, x0, Math.max(2, x1 - x0)]);
			if (a && p.run0 === null) continue;
			const key = hue(c, p);
			if (!bins.has(key)) bins.set(key, new Uint8Array(this.w + 1));
			const row = bins.get(key);
			for (let x = x0; x < x1 && x <= this.w; x++) if (row[x] < 4) row[x]++;
		}
		for (const [colour, row] of bins) for (let x = 0, e; x < row.length; x = e) {
			for (e = x + 1; e < row.length && row[e] === row[x];) e++;
			if (row[x]) fill(g, colour, x, colour === c.model ? 6 : 20, e - x, colour === c.model ? 8 : 2 + row[x] * 3);
		}
		for (const [p, x, w] of bad) fill(g, p.state === 'denied' ? c.deny : c.fail, x, p.kind === 'model' ? 3 : 18, w, 15);
		if (t.v1 !== null) for (const [x, w, edge] of [[0, t.v0 * s.k, t.v0 * s.k], [t.v1 * s.k, this.w, t.v1 * s.k]]) {
			fill(g, c.bg, x, 0, w, HIGH, 0.66);
			fill(g, c.edge, edge - 1, 0, 2, HIGH);
		}
		if (this.ctx.past) fill(g, c.ink, s.x(this.ctx.past.time) - 1, 0, 2, HIGH);
		if (this.drag) fill(g, c.run, Math.min(...this.drag), 0, Math.abs(this.drag[1] - this.drag[0]), HIGH, 0.18);
		this.marks(state, c);
	}

	marks({marks, seq}, c) {
		const g = this.ticks.getContext('2d'), turns = marks.filter(m => m.kind === 'turn').length;
		g.clearRect(0, 0, this.w, 8);
		for (const kind of ['turn', 'fork', 'ask', 'bad']) {
			if (kind === 'turn' && turns > this.w / 4) continue;
			const colour = {turn: c.edge, fork: c.run, ask: c.wait, bad: c.fail}[kind], w = kind === 'turn' ? 1 : 2;
			for (const m of marks) if (m.kind === kind)
				fill(g, colour, 8 + (m.seq - 1) / Math.max(1, seq - 1) * (this.w - 16) - w / 2, 9 - 4 * w, w, 7);
		}
	}

	up() {
		const d = this.drag, s = this.scale;
		this.drag = null;
		if (!d || !s || Math.abs(d[0] - d[1]) < 4) return;
		const [a, b] = d.sort((x, y) => x - y).map(x => s.virtual(s.t(x)).v);
		this.ctx.time.range(a, b);
		this.ctx.again();
	}

	/* -- The fork sheet */

	fork() {
		const {log, at, id} = this.ctx, seq = at ?? log.state.seq, {calls, unsafe, open} = again(log.state, seq), r = log.state.run;
		const field = (tag, name, props) => el(tag, {id: 'fork-' + name, dir: 'auto', ...props});
		const text = field('textarea', 'say', {rows: 3}), result = open && field('textarea', 'result', {rows: 3});
		const model = field('input', 'model', {type: 'text', placeholder: plain(r?.model, 60)});
		const turns = field('input', 'turns', {type: 'number', min: 1, placeholder: r?.limits?.turns || ''});
		const why = el('p.why', {role: 'alert', hidden: true}), make = el('button.main', 'Fork'), key = api.idempotency();
		const name = (f, words) => [el('label', {for: f.id}, words), f];
		const form = el('form.sheet',
			el('p', `${seq} events shared; ${calls} call${calls === 1 ? '' : 's'} after it may run again, ${unsafe} unsafe.`),
			...name(text, 'Message'), ...(open ? name(result, `Result of ${oneLine(open.name, 60)} (${oneLine(open.key, 40)
			}), which is open here`) : []), el('div.line', ...name(model, 'Model'), ...name(turns, 'Turns')), why,
			el('div.buttons', button('Close', () => dialog.close()), make));
		const dialog = sheet(`Fork after event ${seq}`, form);
		on(form, 'submit', async e => {
			e.preventDefault();
			make.disabled = true;
			const body = {at: seq, run: true};
			if (text.value.trim()) body.say = text.value;
			if (result?.value) body.results = [{call: open.key, output: result.value}];
			if (model.value.trim()) body.model = model.value.trim();
			if (turns.value) body.limits = {turns: +turns.value};
			try {
				const made = await api.post(api.run(id, '/fork'), body, key);
				dialog.close();
				say('forked');
				go(runHref(made.run));
			} catch (err) {
				why.hidden = make.disabled = false;
				why.textContent = plain(err.message, 400);
			}
		});
	}
}
