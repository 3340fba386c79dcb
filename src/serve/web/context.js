/* context.js - what fills the window of the model: its parts turn by turn, what
 * was cut, where the cached prefix broke; and the request itself. */
import {el, css, plain, count, bytes, button} from './text.js';
import {part, why} from './talk.js';
import * as api from './api.js';

export class View {
	constructor(ctx) {
		Object.assign(this, {ctx, node: el('div.scroll', {tabindex: 0}), shown: el('div')});
	}

	update(state, force) {
		const list = state.spans.filter(p => p.kind === 'context' && p.parts), last = list.at(-1);
		if (list.length === this.n && !force) return;
		this.n = list.length;
		if (!last) return this.node.replaceChildren(el('p.mute', state.run?.plan ? 'The actions of a plan have contexts of their own.' :
			'No request yet.'));
		const names = [...new Set(list.flatMap(p => p.parts.map(q => q.name)))], hue = name => 'f-' + names.indexOf(name) % 6;
		const most = Math.max(1, ...list.map(p => p.tokens)), cut = last.parts.filter(q => q.truncated || q.cut);
		this.node.replaceChildren(el('p', `${count(last.tokens)} of ${count(last.budget)} tokens in the last request.`),
			el('ul.key', ...names.map(n => el('li', el('i', {class: hue(n)}), plain(n, 40), el('span.mute',
				' ' + count(last.parts.find(q => q.name === n)?.tokens ?? 0))))),
			...list.slice(-200).map(p => this.row(p, most, hue)),
			cut.length ? el('p', 'Cut: ' + cut.map(q => plain(q.name, 40) + (q.cut ? ` by ${bytes(q.cut)}` : '')).join(', ')) : '',
			button('Show what was sent', e => this.sent(e.currentTarget)), this.shown);
	}

	row(p, most, hue) {
		const cause = p.broke && plain(p.broke.cause, 20), stack = p.parts.map(q => {
			const i = el('i', {class: hue(q.name), title: `${plain(q.name, 40)} ${q.tokens}`});
			css(i, '--w', q.tokens / most);
			return i;
		});
		return el('div.ctx-row', el('a', {href: '?v=context&e=' + p.seq}, 'turn ' + p.turn), el('div.stack', ...stack),
			el('span.num', count(p.tokens), cause && el('span.tag', {title: `the provider's cache broke at byte ${p.broke.byte}`}, cause)));
	}

	async sent(from) {
		const {id, at, chosen, state} = this.ctx, words = (...list) => list.filter(Boolean).join(', ');
		from.disabled = true;
		try {
			const c = await api.ask(api.run(id, '/context?at=' + (at ?? chosen?.seq ?? state.seq))), n = c.message_tokens;
			this.shown.replaceChildren(el('div.label', `Request of event ${c.seq}, about ${count(c.tokens)} tokens`),
				...(c.system ? part('System', c.system, id) : []), ...(c.messages ?? []).flatMap((m, i) =>
					part(words(plain(m.role, 20), plain(m.name, 60), n && `${count(n[i])} tokens`), m.text ?? m, id)));
		} catch (e) {
			this.shown.replaceChildren(why(e));
		}
		from.disabled = false;
	}
}
