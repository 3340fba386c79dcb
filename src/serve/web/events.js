/* events.js - the kept events as a real table. Only rows near the window are in
 * it; rows above and below stand for the rest. */
import {el, foreign, oneLine, when, on} from './text.js';

const ROWS = 60;

/* An event in one line. */
export function gist(type, d) {
	switch (type) {
	case 'run_start': return d.prompt;
	case 'model_start': return `${d.model}, ${d.purpose}, attempt ${d.attempt}`;
	case 'model_end': return `${d.outcome}: ${d.text}`;
	case 'model_retry': return `${d.reason}, again in ${d.delay_ms} ms`;
	case 'call_start': case 'approval_ask': return `${d.name} ${JSON.stringify(d.args)}`;
	case 'call_end': case 'action_end': return `${d.name} ${d.outcome}: ` +
		(typeof d.output === 'string' ? d.output : JSON.stringify(d.output) ?? '');
	case 'action_start': return `${d.name} ${JSON.stringify(d.params)}`;
	case 'context_end': return `${d.tokens} tokens`;
	case 'metrics': return `${d.tokens_in} in, ${d.tokens_out} out, ${d.tool_calls} calls`;
	case 'run_end': return `${d.outcome}: ${d.error?.message ?? d.text}`;
	default: return d.message ?? d.text ?? JSON.stringify(d);
	}
}

export class View {
	constructor(ctx) {
		this.ctx = ctx;
		this.filter = el('input', {type: 'search', id: 'event-filter',
			placeholder: 'type or text', 'aria-label': 'Filter events',
			on: {input: () => { this.seen = 0; this.hits = null; this.update(ctx.state, true); }}});
		this.count = el('span.mute');
		this.body = el('tbody');
		this.box = el('div.events', {tabindex: '0'}, el('table', {'aria-label': 'Events'},
			el('thead', el('tr', ...['seq', 'at', 'turn', 'type', 'what'].map((c, i) =>
				el('th.' + c, {scope: 'col'}, ['#', 'Time', 'Turn', 'Type', 'Summary'][i])))), this.body));
		this.node = el('div.view', el('div.tools', this.filter, this.count), this.box);
		on(this.box, 'scroll', () => this.soon(), {passive: true});
		on(this.body, 'click', e => {
			const tr = e.target.closest('tr[data-seq]');
			if (!tr) return;
			e.preventDefault();
			ctx.select({seq: +tr.dataset.seq});
		});
	}

	soon() { this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); }); }

	update(state, force) {
		const log = this.ctx.log, n = Math.min(state.seq, log.raw.length);
		const q = this.filter.value.trim().toLowerCase();
		if (n === this.n && !force) return;
		this.n = n;
		if (q) {
			this.hits ??= [];
			for (let i = this.seen ?? 0; i < n; i++) {
				if (log.types[i].includes(q) || log.raw[i].toLowerCase().includes(q)) this.hits.push(i + 1);
				this.seen = i + 1;
			}
		} else this.hits = null;
		const total = this.hits?.length ?? n;
		this.count.textContent = q ? `${total} of ${n}` : `${n} events`;
		const want = this.ctx.chosen?.seq;
		if (want && want !== this.at) {
			this.at = want;
			const i = this.hits ? this.hits.indexOf(want) : want - 1, h = this.high();
			if (i >= 0 && (i * h < this.box.scrollTop || i * h > this.box.scrollTop + this.box.clientHeight - 3 * h))
				this.box.scrollTop = i * h - this.box.clientHeight / 2;
		}
		this.draw(true);
	}

	high() { return parseFloat(getComputedStyle(this.box).getPropertyValue('--row')) || 24; }

	draw(force) {
		const h = this.high(), total = this.hits?.length ?? this.n ?? 0;
		const from = Math.max(0, Math.min(total - ROWS, Math.floor(this.box.scrollTop / h) - 10));
		const to = Math.min(total, from + ROWS + Math.ceil(this.box.clientHeight / h));
		const key = `${from}/${to}/${this.ctx.chosen?.seq}`;
		if (key === this.drawn && !force) return;
		this.drawn = key;
		const gap = n => {
			const td = el('td', {colspan: 5});
			td.style.setProperty('height', n * h + 'px');
			return el('tr', {'aria-hidden': 'true'}, td);
		};
		const rows = [];
		for (let i = from; i < to; i++) rows.push(this.row(this.hits ? this.hits[i] : i + 1));
		this.body.replaceChildren(from ? gap(from) : '', ...rows, to < total ? gap(total - to) : '');
	}

	row(seq) {
		const e = this.ctx.log.event(seq), d = e.data;
		const bad = d.outcome && !['ok', 'skipped', 'superseded'].includes(d.outcome);
		const tr = el('tr', {class: (bad ? 'bad' : '') + (this.ctx.chosen?.seq === seq ? ' chosen' : '')},
			el('td.seq.num', el('a', {href: '?v=events&e=' + seq}, String(seq))),
			el('td.at.num', when(e.time, this.ctx.state.t0, true)),
			el('td.turn.num', e.turn == null ? '' : String(e.turn)),
			el('td.type', e.type), el('td.what', foreign(oneLine(String(gist(e.type, d)).slice(0, 800), 200))));
		tr.dataset.seq = seq;
		return tr;
	}

	key(e) {
		const by = {j: 1, k: -1}[e.key], at = (this.ctx.chosen?.seq ?? 0) + by;
		if (by && at >= 1 && at <= this.n) this.ctx.select({seq: at});
		return !!by;
	}
}
