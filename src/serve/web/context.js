/* context.js - what fills the window of the model: its parts turn by turn, what
 * was cut, where the cached prefix broke; and the request itself. */
import {el, foreign, oneLine, plain, count, bytes, button} from './text.js';
import {output} from './talk.js';
import * as api from './api.js';

export class View {
	constructor(ctx) {
		this.ctx = ctx;
		this.node = el('div.scroll', {tabindex: '0'});
	}

	update(state, force) {
		const list = state.spans.filter(p => p.kind === 'context' && p.parts);
		if (list.length === this.n && !force) return;
		this.n = list.length;
		if (!list.length) return void this.node.replaceChildren(el('p.mute',
			state.run?.plan ? 'The actions of a plan have contexts of their own.' : 'No request yet.'));
		const names = [];
		for (const p of list) for (const q of p.parts) if (!names.includes(q.name)) names.push(q.name);
		const hue = name => 'f-' + (names.indexOf(name) % 6);
		const most = Math.max(...list.map(p => p.tokens), 1);
		const rows = list.slice(-200).map(p => this.row(p, most, hue)), last = list.at(-1);
		const cut = last.parts.filter(q => q.truncated || q.cut);
		this.node.replaceChildren(
			el('p', `${count(last.tokens)} of ${count(last.budget)} tokens in the last request.`),
			el('ul.key', ...names.map(n => el('li', el('i', {class: hue(n)}), plain(n, 40), ' ',
				el('span.mute', count(last.parts.find(q => q.name === n)?.tokens ?? 0))))),
			...rows, cut.length ? el('p', 'Cut: ' + cut.map(q => plain(q.name, 40) +
				(q.cut ? ` by ${bytes(q.cut)}` : '')).join(', ')) : '',
			el('p', button('Show what was sent', e => this.sent(e.currentTarget))),
			this.shown ??= el('div'));
	}

	row(p, most, hue) {
		const stack = el('div.stack', ...p.parts.filter(q => q.tokens).map(q => {
			const i = el('i', {class: hue(q.name), title: `${plain(q.name, 40)} ${q.tokens}`});
			i.style.setProperty('--w', q.tokens / most);
			return i;
		}));
		return el('div.ctx-row', el('a', {href: '?v=context&e=' + p.seq}, 'turn ' + p.turn), stack,
			el('span.num', count(p.tokens), p.broke ? el('span.tag', {title:
				`the provider's cache broke at byte ${p.broke.byte}: ${plain(p.broke.cause, 40)}`},
			plain(p.broke.cause, 20)) : ''));
	}

	async sent(from) {
		from.disabled = true;
		const at = this.ctx.at ?? this.ctx.chosen?.seq ?? this.ctx.state.seq;
		try {
			const c = await api.ask(api.run(this.ctx.id, '/context?at=' + at));
			this.shown.replaceChildren(
				el('div.label', `Request of event ${c.seq}, about ${count(c.tokens)} tokens`),
				...(c.system ? [el('div.label', 'System'), output(c.system, this.ctx.id)] : []),
				...(c.messages ?? []).flatMap((m, i) => [el('div.label', plain(m.role, 20),
					c.message_tokens ? `, ${count(c.message_tokens[i])} tokens` : '',
					m.name ? foreign(' ' + oneLine(m.name, 60)) : ''), output(m.text ?? m, this.ctx.id)]));
		} catch (e) {
			this.shown.replaceChildren(el('p.why', plain(e.message, 400)));
		}
		from.disabled = false;
	}
}
