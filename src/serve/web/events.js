/* events.js - the kept events as a real table. Only rows near the window are in
 * it; rows above and below stand for the rest. */
import {el, foreign, oneLine, when, on, css, frames} from './text.js';

const ROWS = 60;
const json = v => typeof v === 'string' ? v : JSON.stringify(v) ?? '';
const HEADS = [['seq', '#'], ['at', 'Time'], ['turn', 'Turn'], ['type', 'Type'], ['what', 'Summary']];

const GISTS = {__proto__: null,
	run_start: d => d.prompt,
	model_start: d => `${d.model}, ${d.purpose}, attempt ${d.attempt}`,
	model_end: d => `${d.outcome}: ${d.text}`,
	model_retry: d => `${d.reason}, again in ${d.delay_ms} ms`,
	call_start: d => `${d.name} ${json(d.args)}`,
	approval_ask: d => `${d.name} ${json(d.args)}`,
	call_end: d => `${d.name} ${d.outcome}: ${json(d.output)}`,
	action_start: d => `${d.name} ${json(d.params)}`,
	action_end: d => `${d.name} ${d.outcome}: ${json(d.output)}`,
	context_end: d => `${d.tokens} tokens`,
	metrics: d => `${d.tokens_in} in, ${d.tokens_out} out, ${d.tool_calls} calls`,
	run_end: d => `${d.outcome}: ${d.error?.message ?? d.text}`,
};

export class View {
	constructor(ctx) {
		this.ctx = ctx;
		this.filter = el('input', {type: 'search', id: 'event-filter', placeholder: 'type or text', 'aria-label': 'Filter events',
			on: {input: () => { this.hits = null; this.update(ctx.state, true); }}});
		this.count = el('span.mute');
		this.body = el('tbody');
		this.box = el('div.events', {tabindex: 0}, el('table', {'aria-label': 'Events'},
			el('thead', el('tr', ...HEADS.map(([c, t]) => el('th.' + c, {scope: 'col'}, t)))), this.body));
		this.node = el('div.view', el('div.tools', this.filter, this.count), this.box);
		on(this.box, 'scroll', frames(() => this.draw()), {passive: true});
		on(this.body, 'click', e => {
			const {seq} = e.target.closest('tr').dataset;
			e.preventDefault();
			if (seq) ctx.select({seq: +seq});
		});
	}

	update(state, force) {
		const {log, chosen} = this.ctx, n = Math.min(state.seq, log.raw.length), q = this.filter.value.trim().toLowerCase();
		if (n === this.n && !force) return;
		if (!this.hits || n < this.n) { this.hits = []; this.seen = 0; }
		this.n = n;
		for (; q && this.seen < n; this.seen++) if (log.raw[this.seen].toLowerCase().includes(q)) this.hits.push(this.seen + 1);
		if (!q) this.hits = null;
		this.count.textContent = q ? `${this.hits.length} of ${n}` : `${n} events`;
		if (chosen?.seq && chosen.seq !== this.at) {
			this.at = chosen.seq;
			const y = (this.hits ? this.hits.indexOf(this.at) : this.at - 1) * this.high(), top = this.box.scrollTop;
			if (y < top || y > top + this.box.clientHeight - 72) this.box.scrollTop = y - this.box.clientHeight / 2;
		}
		this.draw(true);
	}

	high() { return parseFloat(getComputedStyle(this.box).getPropertyValue('--row')) || 24; }

	draw(force) {
		const h = this.high(), total = this.hits?.length ?? this.n ?? 0;
		const from = Math.max(0, Math.min(total - ROWS, Math.floor(this.box.scrollTop / h) - 10));
		const to = Math.min(total, from + ROWS + Math.ceil(this.box.clientHeight / h)), key = `${from}/${to}`;
		if (key === this.drawn && !force) return;
		this.drawn = key;
		const gap = n => {
			const td = el('td', {colspan: HEADS.length});
			css(td, 'height', n * h + 'px');
			return n ? el('tr', {'aria-hidden': 'true'}, td) : '';
		};
		this.body.replaceChildren(gap(from), ...Array.from({length: to - from}, (_, i) =>
			this.row(this.hits ? this.hits[from + i] : from + i + 1)), gap(total - to));
	}

	row(seq) {
		const {type, time, turn, data: d} = this.ctx.log.event(seq), bad = d.outcome && !['ok', 'skipped', 'superseded'].includes(d.outcome);
		return el('tr', {class: `${bad ? 'bad' : ''} ${this.ctx.chosen?.seq === seq ? 'chosen' : ''}`, 'data-seq': seq},
			el('td.seq.num', el('a', {href: '?v=events&e=' + seq}, seq)), el('td.at.num', when(time, this.ctx.state.t0, true)),
			el('td.turn', turn), el('td.type', type),
			el('td.what', foreign(oneLine(String(GISTS[type]?.(d) ?? d.message ?? d.text ?? json(d)).slice(0, 800), 200))));
	}

	key(e) {
		const by = {j: 1, k: -1}[e.key], seq = (this.ctx.chosen?.seq ?? 0) + by;
		if (seq >= 1 && seq <= this.n) this.ctx.select({seq});
		return !!by;
	}
}
