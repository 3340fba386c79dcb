/* talk.js - the conversation of a run.
 *
 * Only changed items are touched: objects of a state are replaced when they
 * change, so identity tells. At most PAGE items are in the document while the
 * reader follows the end; earlier ones come on request. */
import {el, put, foreign, plain, oneLine, mark, stateWord, noAnsi, ms, count,
	cost, badge, bytes, MARKS, runHref, on} from './text.js';
import {Markdown} from './md.js';
import * as api from './api.js';

const PAGE = 200, FIRST = 80;
const NEAR = 48; /* pixels from the end within which the end is followed */
const LINES = 200; /* of an output, before it is shortened */
const MD_MS = 50; /* between two looks at text that still comes */

/* -- Parts of items */

/* Arguments, a key a line; what is long is cut in the middle. */
export function argsGist(args, cap = 120) {
	if (args === null || args == null) return '';
	if (typeof args !== 'object' || Array.isArray(args)) return oneLine(
		typeof args === 'string' ? args : JSON.stringify(args), cap);
	const list = Object.entries(args);
	if (list.length === 1 && typeof list[0][1] === 'string')
		return oneLine(list[0][1], cap);
	return oneLine(list.map(([k, v]) => k + '=' + (typeof v === 'string' ?
		v.slice(0, cap) : JSON.stringify(v)?.slice(0, cap))).join(' '), cap);
}

/* Output: head, tail, and a button for the rest. */
export function output(value, run) {
	if (value && typeof value === 'object' && value.blob) return blob(value, run);
	const text = noAnsi(typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? '');
	const pre = el('pre.out', {tabindex: '0', dir: 'auto'}), lines = text.split('\n');
	if (lines.length <= LINES && text.length < 200000) {
		put(pre, text);
		return pre;
	}
	const head = lines.length > LINES ? lines.slice(0, 150).join('\n') : text.slice(0, 60000);
	const tail = lines.length > LINES ? lines.slice(-40).join('\n') : text.slice(-20000);
	const cut = lines.length > LINES ? `${lines.length - 190} more lines` :
		`${count(text.length - 80000)} more characters`;
	put(pre, head.slice(0, 200000));
	const button = el('button', {type: 'button', class: 'cut', on: {click() {
		pre.replaceChildren();
		put(pre, text);
	}}}, cut + ', show all');
	pre.append('\n', button, '\n');
	put(pre, tail.slice(-100000));
	return pre;
}

function blob(b, run) {
	const pre = el('pre.out', {tabindex: '0'});
	put(pre, b.head ?? '');
	const get = el('button', {type: 'button', class: 'cut', on: {async click() {
		get.disabled = true;
		const text = await api.ask(api.run(run, '/blobs/' + b.blob), {text: true});
		pre.replaceWith(output(text, run));
	}}}, `${bytes(b.bytes)}, load all`);
	pre.append('\n', get);
	return pre;
}

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/* Files of a message: images are shown, the rest can be saved. */
export function files(parts, run) {
	const list = el('ul.files');
	for (const p of parts) {
		const li = el('li', el('span', foreign(oneLine(p.name || p.type, 80)),
			el('span.mute', ` ${plain(p.media, 60)}, ${bytes(p.bytes)}`)));
		const load = async () => URL.createObjectURL(new Blob([await (await api.ask(
			api.run(run, '/blobs/' + p.hash), {raw: 'response'})).arrayBuffer()],
		{type: IMAGES.has(p.media) ? p.media : 'application/octet-stream'}));
		if (IMAGES.has(p.media)) load().then(url => li.append(el('img',
			{src: url, alt: oneLine(p.name || 'image', 80), loading: 'lazy'})), () => {});
		else li.append(' ', el('button', {type: 'button', class: 'link', on: {
			async click() {
				const a = el('a', {href: await load(), download: oneLine(p.name || p.hash, 80)});
				a.click();
			}}}, 'save'));
		list.append(li);
	}
	return list;
}

/* -- Items */

class Item {
	constructor(talk, it) {
		this.talk = talk;
		this.it = it;
		this.node = el('article', {class: 'item ' + it.kind});
		this.node.dataset.item = it.i;
		this.span = null;
		this[it.kind]?.();
	}

	user() {
		const body = el('div.body', {dir: 'auto'});
		put(body, this.it.text, {cap: 100000});
		this.node.append(el('header', this.it.said ? 'You, while it ran' : 'You',
			this.it.pinned ? el('span.tag', 'pinned') : null), body);
		if (this.it.parts) this.node.append(files(this.it.parts, this.talk.run));
	}

	/* Messages of the runs before. */
	past() {
		const list = this.it.messages, n = list.length, d = el('details',
			el('summary', `${n} earlier message${n === 1 ? '' : 's'}`));
		on(d, 'toggle', () => {
			if (d.childElementCount > 1) return;
			for (const m of list) d.append(this.old(m));
		});
		d.open = this.talk.ctx.chat;
		this.node.append(d, this.it.follows ? el('a', {href: runHref(this.it.follows)}, 'the run before') : '');
	}

	old(m) {
		const text = typeof m.text === 'string' ? m.text : m.bytes ? `(${bytes(m.bytes)}, stored apart)` :
			JSON.stringify(m);
		if (m.role === 'user') {
			const body = el('div.body', {dir: 'auto'});
			put(body, text, {cap: 100000});
			return el('div.item.user', el('header', 'You'), body);
		}
		if (m.role !== 'assistant') return el('div.item.note', plain(m.role ?? '', 20), ' ', foreign(oneLine(text, 200)));
		const md = new Markdown();
		md.update(text, true);
		return el('div.item.model', md.node);
	}

	note() {
		const it = this.it;
		this.node.classList.add(it.level);
		this.node.append(el('p', it.level === 'info' ? null : mark(
			it.level === 'error' ? 'failed' : 'unknown'), it.code ?
			el('b', plain(it.code, 40) + ' ') : null, foreign(it.text),
		it.run ? el('a', {href: runHref(it.run)}, ' its parent') : null));
		if (it.detail) this.node.append(el('details', el('summary', 'Summary'),
			output(it.detail, this.talk.run)));
	}

	end() {
		const it = this.it, word = stateWord({state: it.outcome, ...it});
		this.node.append(badge(it.outcome, word));
		if (it.error) {
			const p = el('p.why', {dir: 'auto'});
			put(p, it.error.message, {cap: 4000});
			this.node.append(p);
		}
		if (it.text) this.node.append(output(it.text, this.talk.run));
	}

	model() {
		this.head = el('header');
		this.md = new Markdown();
		this.body = el('div.body', this.md.node);
		this.node.append(this.head, this.body);
	}

	call() {
		this.line = el('summary');
		this.more = el('details.call', this.line);
		on(this.more, 'toggle', () => this.fill());
		on(this.line, 'click', () => this.talk.ctx.select({span: this.it.span}));
		this.node.append(this.more);
	}

	action() { this.call(); }

	/* What its span says now. */
	update(p, now) {
		const same = p === this.span;
		if (same && !(p && p.state === 'running')) return;
		const was = this.span;
		this.span = p;
		if (this.it.kind === 'model') this.updateModel(p, was, same);
		else if (this.line) this.updateCall(p, now, same);
	}

	updateModel(p, was, same) {
		const t = performance.now();
		if (!same || this.late) {
			if (p.state === 'running' && t - (this.drawn ?? 0) < MD_MS) this.late = true;
			else {
				this.late = false;
				this.drawn = t;
				this.md.update(p.text, p.state !== 'running');
				this.think(p);
			}
		}
		if (same) return;
		this.node.classList.toggle('void', p.state === 'superseded');
		this.node.classList.toggle('bad', p.state === 'failed');
		this.node.classList.toggle('now', p.state === 'running');
		const bits = [el('b', foreign(oneLine(p.name, 60)))];
		if (p.purpose === 'plan') bits.push(el('span.tag', 'plan'));
		if (p.attempt > 1) bits.push(`attempt ${p.attempt}`);
		if (p.usage && p.usage.input + p.usage.output > 0) bits.push(
			`${count(p.usage.input)} + ${count(p.usage.output)} tokens`);
		if (p.usage?.cost) bits.push(cost(p.usage.cost));
		if (p.ms != null) bits.push(ms(p.ms));
		if (p.state === 'running') bits.push(p.first === null ? 'thinks' :
			p.writing ? 'writes a call' : 'writes');
		if (p.state !== 'ok' && p.state !== 'running') bits.push(badge(p.state, stateWord(p)));
		this.head.replaceChildren(...bits.flatMap((b, i) => i ? [el('span.dot'), b] : [b]));
		if (p.error && !this.why) {
			this.why = el('p.why', {dir: 'auto'});
			put(this.why, p.error.message, {cap: 4000});
			this.node.append(this.why);
		}
		/* A message without text has only calls, which follow. */
		this.node.classList.toggle('mute-head', p.state === 'ok' && !p.text && !p.thinking);
	}

	think(p) {
		if (!p.thinking) return;
		if (!this.thought) {
			this.first = el('span.first');
			this.thoughts = el('div.thoughts', {dir: 'auto'});
			this.thought = el('details', {class: 'think'},
				el('summary', el('span.mute', 'Thinking '), this.first), this.thoughts);
			on(this.thought, 'toggle', () => this.think(this.span));
			this.body.prepend(this.thought);
		}
		const first = oneLine(p.thinking.split('\n', 1)[0], 120);
		if (this.first.textContent !== first) this.first.textContent = first;
		if (!this.thought.open || this.thoughtText === p.thinking) return;
		this.thoughtText = p.thinking;
		this.thoughts.replaceChildren();
		put(this.thoughts, p.thinking);
	}

	updateCall(p, now, same) {
		const live = p.state === 'running';
		const word = live ? stateWord({...p, t0: p.run0 ?? p.t0}, Math.floor(now)) : stateWord(p);
		if (same) {
			if (live && this.word.textContent !== word) this.word.textContent = word;
			return;
		}
		this.word = el('span.word', live || p.state === 'waiting' ||
			p.state === 'skipped' ? word : p.state === 'ok' && !p.cached ?
				ms(p.ms) : `${word}${p.ms ? ', ' + ms(p.ms) : ''}`);
		this.line.replaceChildren(mark(p.cached && p.state === 'ok' ? 'cached' :
			p.state), el('b.name', foreign(oneLine(p.name, 60))),
		el('span.gist', foreign(argsGist(p.args))), this.word);
		this.line.className = 's-' + (MARKS[p.state] ? p.state : 'unknown');
		this.line.setAttribute('aria-label', `${p.kind} ${oneLine(p.name, 60)}, ` +
			`${word}${p.ms ? ' after ' + ms(p.ms) : ''}`);
		this.fill();
	}

	fill() {
		const p = this.span;
		if (!this.more.open || !p || this.filled === p) return;
		this.filled = p;
		const rows = [];
		if (p.args !== null && p.args != null)
			rows.push(el('div.label', 'In'), output(p.args, this.talk.run));
		if (p.live) rows.push(el('div.label', 'Out, so far'), output(p.live, this.talk.run));
		if (p.output != null && p.output !== null && p.output !== '')
			rows.push(el('div.label', 'Out', p.truncated ? ', cut' : '',
				p.given ? ', given' : ''), output(p.output, this.talk.run));
		if (p.parts) rows.push(files(p.parts, this.talk.run));
		if (p.error && p.error.message !== p.output) rows.push(el('p.why', foreign(p.error.message)));
		if (p.child) rows.push(el('p', el('a', {href: runHref(p.child)}, 'Run of ', foreign(oneLine(p.agent, 60)))));
		this.more.replaceChildren(this.line, ...rows);
	}
}

/* -- The list */

export class Talk {
	constructor(ctx) {
		this.ctx = ctx;
		this.run = ctx.id;
		this.items = [];
		this.from = 0;
		this.follow = true;
		this.unread = 0;
		this.earlier = el('button', {type: 'button', class: 'earlier', hidden: true,
			on: {click: () => this.back()}});
		this.list = el('div.items');
		this.log = el('div.log', {tabindex: '0', role: 'log',
			'aria-live': 'off', 'aria-label': 'Conversation'}, this.earlier, this.list);
		this.latest = el('button', {type: 'button', class: 'latest', hidden: true,
			on: {click: () => this.toEnd()}}, 'Latest');
		this.node = el('div.talk', this.log, this.latest);
		const stop = () => { if (!this.atEnd()) this.unfollow(); };
		on(this.log, 'wheel', e => { if (e.deltaY < 0) this.unfollow(); },
			{passive: true});
		on(this.log, 'touchmove', stop, {passive: true});
		on(this.log, 'keydown', e => {
			if (['ArrowUp', 'PageUp', 'Home'].includes(e.key)) this.unfollow();
		});
		on(this.log, 'scroll', () => {
			if (this.atEnd()) { this.follow = true; this.unread = 0; this.button(); }
			else if (!this.moving) {
				stop();
				if (this.log.scrollTop < 80 && this.from) this.back();
			}
			this.moving = false;
		}, {passive: true});
		on(this.log, 'pointerup', () => {
			if (!getSelection().isCollapsed) this.unfollow();
		});
	}

	atEnd() {
		const l = this.log;
		return l.scrollHeight - l.scrollTop - l.clientHeight <= NEAR;
	}

	unfollow() {
		this.follow = false;
		this.button();
	}

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

	stick() {
		this.moving = true;
		this.log.scrollTop = this.log.scrollHeight;
	}

	/* Shows items from `from` on. */
	window(from) {
		while (this.items.length && this.from < from) {
			this.items.shift().node.remove();
			this.from++;
		}
		const add = [];
		for (let i = from; i < this.from && i < this.state.items.length; i++)
			add.push(this.make(i));
		this.list.prepend(...add.map(x => x.node));
		this.items.unshift(...add);
		this.from = from;
		this.earlier.hidden = from === 0;
		this.earlier.textContent = `${Math.min(PAGE, from)} of ${from} earlier`;
	}

	back() {
		const was = this.log.scrollHeight - this.log.scrollTop;
		this.unfollow();
		this.window(Math.max(0, this.from - PAGE));
		this.log.scrollTop = this.log.scrollHeight - was;
	}

	make(i) {
		const it = this.state.items[i], x = new Item(this, it);
		if (it.span >= 0) x.update(this.state.spans[it.span], this.ctx.now());
		return x;
	}

	update(state) {
		const other = state.seq < (this.state?.seq ?? 0) || !this.state;
		this.state = state;
		if (other) {
			this.items = [];
			this.list.replaceChildren();
			this.from = Math.max(0, state.items.length - FIRST);
			this.window(this.from);
		}
		const end = this.from + this.items.length;
		if (this.follow && state.items.length - end > PAGE) {
			this.items = [];
			this.list.replaceChildren();
			this.from = state.items.length - FIRST;
		}
		const now = this.ctx.now();
		for (const x of this.items)
			if (x.it.span >= 0) x.update(state.spans[x.it.span], now);
		let added = 0;
		const nodes = [];
		for (let i = this.from + this.items.length; i < state.items.length; i++) {
			const x = this.make(i);
			nodes.push(x.node);
			this.items.push(x);
			added++;
		}
		this.list.append(...nodes);
		if (this.follow && this.items.length > PAGE + 50)
			this.window(state.items.length - PAGE);
		else this.earlier.hidden = this.from === 0;
		if (!this.follow && added && !other) { this.unread += added; this.button(); }
		if (this.follow) this.stick();
	}

	toStart() {
		this.unfollow();
		this.window(0);
		this.log.scrollTop = 0;
	}

	/* Something whose text is still behind what is known. */
	late() { return this.items.some(x => x.late); }

	show(i) {
		if (i < 0 || !this.state || i >= this.state.items.length) return;
		if (i < this.from) this.window(Math.max(0, i - 20));
		const x = this.items[i - this.from];
		if (!x) return;
		this.list.querySelector('.chosen')?.classList.remove('chosen');
		x.node.classList.add('chosen');
		x.node.scrollIntoView({block: 'nearest'});
		if (!this.atEnd()) this.unfollow();
	}
}
