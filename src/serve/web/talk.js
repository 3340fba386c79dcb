/* talk.js - the conversation of a run.
 *
 * Only changed items are touched: objects of a state are replaced when they
 * change, so identity tells. A reader who follows the end has few items in the
 * document; earlier ones come as the reader scrolls up. */
import {el, button, put, filled, foreign, plain, oneLine, mark, look, stateWord, noAnsi, ms, count, cost, badge, bytes, on,
	runHref, MARKS} from './text.js';
import {Markdown, markdown} from './md.js';
import * as api from './api.js';

const PAGE = 200, FIRST = 36;
const NEAR = 48; /* pixels from the end within which the end is followed */
const LINES = 200; /* of an output, before it is shortened */
const CHARS = 200000;
const MD_MS = 50; /* between two looks at text that still comes */

export function argsGist(args, cap = 120) {
	if (args == null) return '';
	const text = v => typeof v === 'string' ? v.slice(0, cap * 2) : JSON.stringify(v)?.slice(0, cap * 2);
	if (typeof args !== 'object' || Array.isArray(args)) return oneLine(text(args), cap);
	const list = Object.entries(args);
	return oneLine(list.length === 1 && typeof list[0][1] === 'string' ? text(list[0][1]) :
		list.map(([k, v]) => k + '=' + text(v)).join(' '), cap);
}

/* Output: head, tail, and a button for the rest. */
export function output(value, run) {
	const pre = el('pre.out', {tabindex: 0, dir: 'auto'});
	if (value?.blob) {
		put(pre, value.head ?? '');
		const get = button(`${bytes(value.bytes)}, load all`, async () => {
			get.disabled = true;
			pre.replaceWith(output(await api.ask(api.run(run, '/blobs/' + value.blob), {text: true}), run));
		}, {class: 'cut'});
		pre.append('\n', get);
		return pre;
	}
	const text = noAnsi(typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''), lines = text.split('\n');
	const long = lines.length > LINES;
	if (!long && text.length < CHARS) return filled(pre, text);
	put(pre, long ? lines.slice(0, 150).join('\n').slice(0, CHARS) : text.slice(0, 60000));
	pre.append('\n', button(`${long ? `${lines.length - 190} more lines` : `${count(text.length - 80000)} more characters`}, show all`,
		() => { pre.replaceChildren(); put(pre, text); }, {class: 'cut'}), '\n');
	return filled(pre, long ? lines.slice(-40).join('\n').slice(-CHARS) : text.slice(-20000));
}

export const part = (name, v, run) => [el('div.label', name), output(v, run)];

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/* Files of a message: images are shown, the rest can be saved. */
export function files(parts, run) {
	return el('ul.files', ...parts.map(p => {
		const image = IMAGES.includes(p.media), name = oneLine(p.name || p.type, 80);
		const li = el('li', foreign(name), el('span.mute', ` ${plain(p.media, 60)}, ${bytes(p.bytes)} `));
		const load = async () => URL.createObjectURL(new Blob([await (await api.ask(api.run(run, '/blobs/' + p.hash),
			{raw: true})).arrayBuffer()], {type: image ? p.media : 'application/octet-stream'}));
		if (image) load().then(src => li.append(el('img', {src, alt: name})), () => {});
		else li.append(button('save', async () => el('a', {href: await load(), download: name}).click(), {class: 'link'}));
		return li;
	}));
}

const userBody = text => filled(el('div.body', {dir: 'auto'}), text, {cap: 100000});
export const why = error => filled(el('p.why', {dir: 'auto'}), error.message, {cap: 4000});

/* -- Items */

class Item {
	constructor(talk, it) {
		Object.assign(this, {talk, it, node: el('article.item.' + it.kind)});
		this[it.kind]();
	}

	user() {
		const {said, pinned, text, parts} = this.it;
		this.node.append(el('header', said ? 'You, while it ran' : 'You', pinned && el('span.tag', 'pinned')), userBody(text),
			parts ? files(parts, this.talk.run) : '');
	}

	past() {
		const {messages: list, follows} = this.it, d = el('details', el('summary', `${list.length} earlier message` +
			(list.length === 1 ? '' : 's')));
		on(d, 'toggle', () => d.childElementCount > 1 || d.append(...list.map(m => this.old(m))));
		d.open = this.talk.ctx.chat;
		this.node.append(d, follows ? el('a', {href: runHref(follows)}, 'the run before') : '');
	}

	old(m) {
		const text = typeof m.text === 'string' ? m.text : m.bytes ? `(${bytes(m.bytes)}, stored apart)` : JSON.stringify(m);
		if (m.role === 'user') return el('div.item.user', el('header', 'You'), userBody(text));
		if (m.role !== 'assistant') return el('div.item.note', plain(m.role ?? '', 20), ' ', foreign(oneLine(text, 200)));
		return el('div.item.model', markdown(text));
	}

	note() {
		const {level, code, text, run, detail} = this.it;
		this.node.classList.add(level);
		this.node.append(el('p', level !== 'info' && mark(level === 'error' ? 'failed' : 'unknown'), code && el('b', ` ${plain(code, 40)} `),
			foreign(text), run && el('a', {href: runHref(run)}, ' its parent')),
		detail ? el('details', el('summary', 'Summary'), output(detail, this.talk.run)) : '');
	}

	end() {
		const it = this.it;
		this.node.append(badge(it.outcome, stateWord({...it, state: it.outcome})), it.error && !it.told ? why(it.error) : '',
			it.text ? output(it.text, this.talk.run) : '');
	}

	model() {
		this.head = el('header');
		this.md = new Markdown();
		this.body = el('div.body', this.md.node);
		this.node.append(this.head, this.body);
	}

	call() {
		this.line = el('summary', {on: {click: () => this.talk.ctx.select({span: this.it.span})}});
		this.more = el('details.call', {on: {toggle: () => this.fill()}}, this.line);
		this.node.append(this.more);
	}

	action() { this.call(); }

	update(p, now) {
		const same = p === this.span;
		if (same && p.state !== 'running') return;
		this.span = p;
		if (this.head) this.updateModel(p, same);
		else this.updateCall(p, now, same);
	}

	updateModel(p, same) {
		const t = performance.now(), live = p.state === 'running', u = p.usage;
		if (!same || this.late) {
			this.late = live && t - (this.drawn ?? 0) < MD_MS;
			if (!this.late) {
				this.drawn = t;
				this.md.update(p.text, !live);
				this.think(p);
			}
		}
		if (same) return;
		this.node.classList.toggle('void', p.state === 'superseded');
		this.head.replaceChildren(...[el('b', foreign(oneLine(p.name, 60))), p.purpose === 'plan' && 'plan',
			p.attempt > 1 && `attempt ${p.attempt}`, u && u.input + u.output > 0 && `${count(u.input)} + ${count(u.output)} tokens`,
			u?.cost && cost(u.cost), p.ms != null && ms(p.ms), live && (p.first === null ? 'thinks' : p.writing ? 'writes a call' : 'writes'),
			!live && p.state !== 'ok' && badge(p.state, stateWord(p))].filter(Boolean)
			.flatMap((b, i) => i ? [el('span.dot'), b] : [b]));
		if (p.error && !this.why) this.node.append(this.why = why(p.error));
	}

	think(p) {
		if (!p.thinking) return;
		if (!this.thought) {
			this.first = el('span.first');
			this.thoughts = el('div.thoughts', {dir: 'auto'});
			this.thought = el('details.think', {on: {toggle: () => this.think(this.span)}},
				el('summary', 'Thinking ', this.first), this.thoughts);
			this.body.prepend(this.thought);
		}
		this.first.textContent = oneLine(p.thinking.split('\n', 1)[0], 120);
		if (!this.thought.open || this.thoughtText === p.thinking) return;
		this.thoughtText = p.thinking;
		this.thoughts.replaceChildren();
		put(this.thoughts, p.thinking);
	}

	updateCall(p, now, same) {
		const live = p.state === 'running', word = stateWord({...p, t0: p.run0 ?? p.t0}, live && Math.floor(now));
		if (same) {
			if (this.word.textContent !== word) this.word.textContent = word;
			return;
		}
		this.word = el('span.word', look(p) === 'ok' ? ms(p.ms) : p.ms ? `${word}, ${ms(p.ms)}` : word);
		this.line.replaceChildren(mark(look(p)), el('b.name', foreign(oneLine(p.name, 60))),
			el('span.gist', foreign(argsGist(p.args))), this.word);
		this.line.className = 's-' + (MARKS[p.state] ? p.state : 'unknown');
		this.line.setAttribute('aria-label', `${p.kind} ${oneLine(p.name, 60)}, ${word}${p.ms ? ' after ' + ms(p.ms) : ''}`);
		this.fill();
	}

	fill() {
		const p = this.span, {run} = this.talk, rows = [], add = (name, v) => rows.push(...part(name, v, run));
		if (!this.more.open || this.filled === p) return;
		this.filled = p;
		if (p.args != null) add('In', p.args);
		if (p.live) add('Out, so far', p.live);
		if (p.output != null && p.output !== '') add(`Out${p.truncated ? ', cut' : ''}${p.given ? ', given' : ''}`, p.output);
		if (p.parts) rows.push(files(p.parts, run));
		if (p.error && p.error.message !== p.output) rows.push(why(p.error));
		if (p.child) rows.push(el('a', {href: runHref(p.child)}, 'Run of ', foreign(oneLine(p.agent, 60))));
		this.more.replaceChildren(this.line, ...rows);
	}
}

/* -- The list */

export class Talk {
	constructor(ctx) {
		Object.assign(this, {ctx, run: ctx.id, items: [], from: 0, follow: true, unread: 0});
		this.earlier = button('', () => this.back(), {class: 'earlier', hidden: true});
		this.list = el('div.items');
		this.log = el('div.log', {tabindex: 0, role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation'}, this.earlier, this.list);
		this.latest = button('Latest', () => this.toEnd(), {class: 'latest', hidden: true});
		this.node = el('div.talk', this.log, this.latest);
		const stop = () => this.atEnd() || this.unfollow(), quiet = {passive: true};
		on(this.log, 'wheel', e => e.deltaY < 0 && this.unfollow(), quiet);
		on(this.log, 'touchmove', stop, quiet);
		on(this.log, 'keydown', e => ['ArrowUp', 'PageUp', 'Home'].includes(e.key) && this.unfollow());
		on(this.log, 'pointerup', () => getSelection().isCollapsed || this.unfollow());
		on(this.log, 'scroll', () => {
			if (this.atEnd()) { this.follow = true; this.unread = 0; this.button(); }
			else if (!this.moving) {
				stop();
				if (this.log.scrollTop < 80 && this.from) this.back();
			}
			this.moving = false;
		}, quiet);
	}

	atEnd() { return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight <= NEAR; }
	unfollow() { this.follow = false; this.button(); }

	button() {
		this.latest.hidden = this.follow;
		this.latest.textContent = this.unread ? `Latest (${this.unread})` : 'Latest';
	}

	toEnd() {
		this.follow = true;
		this.unread = 0;
		if (this.state) this.window(Math.max(0, this.state.items.length - FIRST));
		this.stick();
		this.button();
	}

	toStart() {
		this.unfollow();
		this.window(0);
		this.log.scrollTop = 0;
	}

	stick() {
		this.moving = true;
		this.log.scrollTop = this.log.scrollHeight;
	}

	window(from) {
		while (this.items.length && this.from < from) {
			this.items.shift().node.remove();
			this.from++;
		}
		const add = this.state.items.slice(from, this.from).map(it => this.make(it));
		this.list.prepend(...add.map(x => x.node));
		this.items.unshift(...add);
		this.from = from;
		this.earlier.hidden = !from;
		this.earlier.textContent = `${Math.min(PAGE, from)} of ${from} earlier`;
	}

	back() {
		const was = this.log.scrollHeight - this.log.scrollTop;
		this.unfollow();
		this.window(Math.max(0, this.from - PAGE));
		this.log.scrollTop = this.log.scrollHeight - was;
	}

	make(it) {
		const x = new Item(this, it);
		if (it.span >= 0) x.update(this.state.spans[it.span], this.ctx.now());
		return x;
	}

	update(state) {
		const other = !this.state || state.seq < this.state.seq, n = state.items.length, now = this.ctx.now();
		this.state = state;
		if (other || this.follow && n - this.from - this.items.length > PAGE) {
			this.items = [];
			this.list.replaceChildren();
			this.from = Math.max(0, n - FIRST);
		}
		for (const x of this.items) if (x.it.span >= 0) x.update(state.spans[x.it.span], now);
		const add = state.items.slice(this.from + this.items.length).map(it => this.make(it));
		this.items.push(...add);
		this.list.append(...add.map(x => x.node));
		this.window(this.follow && this.items.length > PAGE + 50 ? n - PAGE : this.from);
		if (this.follow) this.stick();
		else if (add.length && !other) { this.unread += add.length; this.button(); }
	}

	/* Something whose text is still behind what is known. */
	late() { return this.items.some(x => x.late); }

	show(i) {
		if (i < this.from && i >= 0) this.window(Math.max(0, i - 20));
		const x = this.items[i - this.from];
		if (!x) return;
		this.list.querySelector('.chosen')?.classList.remove('chosen');
		x.node.classList.add('chosen');
		x.node.scrollIntoView({block: 'nearest'});
		if (!this.atEnd()) this.unfollow();
	}
}
