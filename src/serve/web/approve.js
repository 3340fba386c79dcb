/* approve.js - the card that asks a person.
 *
 * It shows every byte that would run; Approve works only after the end of the
 * arguments has been seen, and not in the first half second, in which a click
 * may have been meant for something else. The answer names the call and the
 * hash of the arguments, so that it can fit nothing else. */
import {el, button, put, foreign, plain, oneLine, mark, say} from './text.js';
import {slice} from './fold.js';
import * as api from './api.js';

const DEAD_MS = 500;

/* A key a line, values with their real line ends. */
function argsBox(args) {
	const box = el('div.args', {tabindex: 0, role: 'group', 'aria-label': 'All arguments'}), end = el('div.end');
	let hidden = 0;
	const one = (cls, value) => {
		const e = el('div.' + cls, {dir: 'auto'});
		hidden += put(e, value, {strict: true});
		box.append(e);
	};
	const list = args && typeof args === 'object' && !Array.isArray(args) ? Object.entries(args) : [['', args]];
	for (const [k, v] of list) { one('key', k); one('value', v); }
	box.append(list.length ? '' : 'no arguments', end);
	return {box, end, hidden};
}

class Card {
	constructor(ctx, p) {
		Object.assign(this, {ctx, p, raw: ctx.log.raw[p.ask.seq - 1]});
		const {box, end, hidden} = argsBox(p.args), a = p.ask, row = (k, v) => [el('dt', k), el('dd', v)];
		const layers = a.layers.filter(l => l.ok === false || l.risk !== 'low').map(l => `${plain(l.layer, 30)}: ${plain(l.risk, 20)}`);
		const where = ctx.state.run?.cwd?.split('/').findLast(Boolean);
		this.note = el('p.card-note', {role: 'status'});
		this.deny = button('Deny', () => this.answer(false), {class: 'deny'});
		this.once = button('Approve once', () => this.answer(true), {class: 'approve'});
		this.always = a.rule && button('Always for\u2026', () => { rule.hidden = !rule.hidden; });
		this.sure = button('Approve, and always', () => this.answer(true, true), {class: 'approve'});
		const rule = el('div.rule', {hidden: true}, el('p', 'Calls that match this rule are not asked again in this run:'),
			el('pre.out', foreign(a.rule)), this.sure);
		this.node = el('section.card', {'aria-label': `Approval: ${oneLine(p.name, 80)}`},
			el('h2', mark('waiting'), 'Run ', el('b', foreign(oneLine(p.name, 80))), where && ` in ${oneLine(where, 60)}`, '?'),
			hidden > 0 && el('p.warn', mark('unknown'), `${hidden} invisible or reordering character${hidden > 1 ? 's' : ''}, shown as U+ codes`),
			box, el('dl.facts', el('dt', 'Risk'), el('dd.risk-' + plain(a.risk, 9), plain(a.risk, 20)),
				...row('Asked since', foreign(a.reason || 'the policy asks')), ...(layers.length ? row('Layers', layers.join(', ')) : []),
				...(p.labels?.length ? row('Labels', foreign(p.labels.join(', '))) : [])),
			el('div.buttons', this.deny, this.once, this.always), rule, this.note);
		this.watch = new IntersectionObserver(list => {
			this.seen ||= list.some(x => x.isIntersecting);
			this.enable();
		}, {root: box, rootMargin: '2px'});
		this.watch.observe(end);
		this.quiet();
	}

	/* Dead for a moment: it has just come, or moved. */
	quiet() {
		this.dead = true;
		this.enable();
		clearTimeout(this.timer);
		this.timer = setTimeout(() => { this.dead = false; this.enable(); }, DEAD_MS);
	}

	enable() {
		const off = !!(this.dead || this.sent || this.ctx.past);
		this.deny.disabled = off;
		for (const b of [this.once, this.always, this.sure]) if (b) b.disabled = off || !this.seen;
		if (!this.sent) this.note.textContent = this.seen || this.dead ? this.why ?? '' : 'Scroll to the end of the arguments to approve.';
	}

	/* The first click locks it, until the log has an answer. */
	async answer(yes, always) {
		if (this.sent || this.dead || yes && !this.seen) return;
		this.sent = true;
		this.enable();
		this.note.textContent = 'sent';
		try {
			await api.post(api.run(this.ctx.id, '/approve'), {call: this.p.key, yes, ...(always ? {always} : {}),
				args_sha256: await api.sha256(slice(this.raw, 'args') ?? '{}')});
			say(yes ? 'approved' : 'denied');
		} catch (e) {
			const known = {answered: 'answered by ' + plain(e.body?.by ?? 'another', 60),
				different: 'The arguments are not the ones shown here. Reload the page.'}[e.code];
			this.sent = !!known;
			this.why = e.message;
			this.enable();
			if (known) this.note.textContent = known;
		}
	}

	close() {
		clearTimeout(this.timer);
		this.watch.disconnect();
		this.node.remove();
	}
}

export class Approvals {
	constructor(ctx) {
		Object.assign(this, {ctx, cards: new Map(), node: el('div.cards')});
		this.moves = new ResizeObserver(() => {
			const {top} = this.node.getBoundingClientRect();
			if (Math.abs(top - this.top) > 4) for (const c of this.cards.values()) c.quiet();
			this.top = top;
		});
		this.moves.observe(this.node);
	}

	update(state, live) {
		const open = new Set();
		for (const i of live ? state.asks.values() : []) {
			const p = state.spans[i], id = p.ask.seq;
			open.add(id);
			if (this.cards.has(id)) continue;
			const card = new Card(this.ctx, p);
			this.cards.set(id, card);
			this.node.append(card.node);
			say(`waits for you: run ${oneLine(p.name, 60)}?`);
			setTimeout(() => document.activeElement === document.body && card.deny.focus(), DEAD_MS + 20);
		}
		for (const [id, card] of this.cards) if (!open.has(id)) {
			card.close();
			this.cards.delete(id);
		}
	}

	close() {
		this.moves.disconnect();
		for (const c of this.cards.values()) c.close();
	}
}
