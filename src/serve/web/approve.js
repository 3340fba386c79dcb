/* approve.js - the card that asks a person.
 *
 * It shows every byte that would run; Approve works only after the end of the
 * arguments has been seen, and not in the first half second, in which a click
 * may have been meant for something else. The answer names the call and the
 * hash of the arguments, so that it can fit nothing else. */
import {el, put, foreign, plain, oneLine, mark, say, on} from './text.js';
import {slice} from './fold.js';
import * as api from './api.js';

const DEAD_MS = 500;

/* A key a line, values with their real line ends. */
function argsBox(args) {
	const box = el('div.args', {tabindex: '0', role: 'group', 'aria-label': 'All arguments'});
	let hidden = 0;
	const one = (key, value) => {
		const v = el('div.value', {dir: 'auto'});
		hidden += put(v, typeof value === 'string' ? value :
			JSON.stringify(value, null, 2), {strict: true});
		const k = el('div.key');
		hidden += put(k, key, {strict: true});
		box.append(k, v);
	};
	if (args && typeof args === 'object' && !Array.isArray(args))
		for (const [k, v] of Object.entries(args)) one(k, v);
	else one('', args);
	if (!box.childElementCount) box.append(el('div', {class: 'value mute'}, 'no arguments'));
	const end = el('div.end', {'aria-hidden': 'true'});
	box.append(end);
	return {box, end, hidden};
}

function why(p) {
	const a = p.ask, layers = (Array.isArray(a.layers) ? a.layers : [])
		.filter(l => l.ok === false || l.risk !== 'low')
		.map(l => `${plain(l.layer, 30)}: ${plain(l.risk, 20)}`);
	return el('dl', {class: 'why-asked'},
		el('dt', 'Risk'), el('dd', {class: 'risk-' + a.risk}, plain(a.risk, 20)),
		el('dt', 'Asked since'), el('dd', foreign(a.reason || 'the policy asks')),
		...(layers.length ? [el('dt', 'Layers'), el('dd', layers.join(', '))] : []),
		...(p.labels?.length ? [el('dt', 'Labels'), el('dd', {}, foreign(p.labels.join(', ')))] : []));
}

class Card {
	constructor(ctx, p) {
		this.ctx = ctx;
		this.p = p;
		this.seen = this.sent = false;
		this.raw = ctx.log.raw[p.ask.seq - 1];
		const {box, end, hidden} = argsBox(p.args);
		this.note = el('p.card-note', {role: 'status'});
		const button = (text, cls, click) => el('button', {type: 'button',
			class: cls, disabled: true, on: {click}}, text);
		this.deny = button('Deny', 'deny', () => this.answer(false, false));
		this.once = button('Approve once', 'approve', () => this.answer(true, false));
		this.always = p.ask.rule ? button('Always for\u2026', 'always', () => {
			this.rule.hidden = !this.rule.hidden;
		}) : null;
		this.rule = el('div.rule', {hidden: true});
		if (p.ask.rule) {
			this.sure = el('button', {type: 'button', class: 'approve',
				on: {click: () => this.answer(true, true)}}, 'Approve, and always');
			this.rule.append(el('p', 'Calls that match this rule are not asked ' +
				'again in this run:'), el('pre.out', foreign(p.ask.rule)), this.sure);
		}
		const where = ctx.state.run?.cwd?.split('/').filter(Boolean).at(-1);
		const title = el('h2', mark('waiting'), 'Run ', el('b', {},
			foreign(oneLine(p.name, 80))), where ? [' in ', oneLine(where, 60)].join('') : '', '?');
		this.node = el('section.card', {'aria-label': `Approval: ${oneLine(p.name, 80)}`},
			title, hidden ? el('p.warn', mark('unknown'),
				`${hidden} invisible or reordering character` + (hidden > 1 ? 's' : '') +
				', shown as U+ codes') : '', box, why(p),
			el('div.buttons', this.deny, this.once, this.always ?? ''), this.rule, this.note);
		on(this.node, 'keydown', e => this.key(e));
		this.watch = new IntersectionObserver(list => {
			if (list.some(x => x.isIntersecting)) { this.seen = true; this.enable(); }
		}, {root: box, rootMargin: '0px 0px 2px 0px'});
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
		const off = this.dead || this.sent || this.ctx.past;
		this.deny.disabled = off;
		this.once.disabled = off || !this.seen;
		if (this.always) this.always.disabled = off || !this.seen;
		if (this.sure) this.sure.disabled = off || !this.seen;
		if (!this.sent) this.note.textContent = this.seen || this.dead ? '' :
			'Scroll to the end of the arguments to approve.';
	}

	key(e) {
		/* No Enter that somebody typed ahead: only on a focused, live button. */
		if (e.key === 'Escape') this.rule.hidden = true;
	}

	async answer(yes, always) {
		if (this.sent || this.dead || (yes && !this.seen)) return;
		this.sent = true;
		this.enable();
		this.note.textContent = 'sent';
		const body = {call: this.p.key, args_sha256: await api.sha256(
			slice(this.raw, 'args') ?? '{}'), yes};
		if (always) body.always = true;
		try {
			await api.post(api.run(this.ctx.id, '/approve'), body);
			say(yes ? 'approved' : 'denied');
		} catch (e) {
			if (e.code === 'answered') this.note.textContent = 'answered by ' +
				plain(e.body.by ?? 'somebody else', 60);
			else if (e.code === 'different') this.note.textContent =
				'The arguments are not the ones shown here. Reload the page.';
			else {
				this.sent = false;
				this.note.textContent = e.message;
				this.dead = false;
				this.enable();
				this.note.textContent = e.message;
			}
		}
	}

	close() {
		clearTimeout(this.timer);
		this.watch.disconnect();
		this.node.remove();
	}
}

/* The cards of all open questions of a run. */
export class Approvals {
	constructor(ctx) {
		this.ctx = ctx;
		this.cards = new Map();
		this.node = el('div.cards');
		this.moves = new ResizeObserver(() => {
			const top = this.node.getBoundingClientRect().top;
			if (this.top != null && Math.abs(top - this.top) > 4)
				for (const c of this.cards.values()) c.quiet();
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
			if (document.activeElement === document.body) setTimeout(() => {
				if (document.activeElement === document.body) card.deny.focus();
			}, DEAD_MS + 20);
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
