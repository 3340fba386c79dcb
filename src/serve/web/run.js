/* run.js - the page of one run: loads its log, follows it, and shows it in
 * views. One queue, one frame: lines are folded and views redrawn at most once
 * a frame, and never for longer than BUDGET_MS. */
import {el, badge, foreign, oneLine, plain, stateWord, ms, count, cost, say,
	keep, BAD, runHref, on} from './text.js';
import {Log, pageLines} from './fold.js';
import * as api from './api.js';
import {shell, go, query} from './main.js';
import {Talk} from './talk.js';
import {Approvals} from './approve.js';
import {Timeline} from './time.js';
import {Inspector} from './inspect.js';
import {Scrubber} from './scrub.js';

const BUDGET_MS = 8;
const PAGE = 2000;
const TABS = [['talk', 'Talk'], ['time', 'Time'], ['graph', 'Graph'],
	['context', 'Context'], ['numbers', 'Numbers'], ['events', 'Events'], ['more', 'More']];
const LATER = {graph: () => import('./graph.js'), context: () => import('./context.js'),
	numbers: () => import('./numbers.js'), events: () => import('./events.js')};
const OVER = new Set(['ok', 'limit', 'canceled', 'failed']);

export class RunPage {
	constructor(main, id, params) {
		this.id = id;
		this.log = new Log();
		this.row = null;
		this.queue = [];
		this.qi = 0;
		this.views = {};
		this.chosen = null; /* {span} or {seq} */
		this.at = null;
		this.loading = true;
		this.build(main);
		this.params(params);
		this.onRow = ({detail}) => {
			if (detail.run !== id) return;
			this.row = {...this.row, ...detail};
			if (!this.stream && !OVER.has(detail.status) &&
				detail.status !== 'interrupted') this.follow();
			this.soon();
		};
		on(api.bus, 'run', this.onRow);
		this.timer = setInterval(() => this.tick(), 1000);
		this.again = () => { this.redraw = true; this.soon(); };
		on(window, 'wend-clock', this.again);
		on(window, 'wend-theme', this.again);
	}

	get state() { return this.past ?? this.log.state; }
	now() {
		return this.past ? this.past.time : this.log.state.outcome ||
			this.dead() ? this.log.state.time : Math.max(this.log.state.time,
			Date.now() / 1000 + (this.skew ?? 0));
	}
	dead() { return this.row?.status === 'interrupted' && !this.log.state.outcome; }
	status() {
		const s = this.state;
		return this.dead() && !this.past ? 'interrupted' : s.status;
	}
	over() { return !!this.log.state.outcome; }
	canAct() { return !this.past; }

	/* -- The page */

	build(main) {
		main.className = 'page-run';
		this.talk = new Talk(this);
		this.cards = new Approvals(this);
		this.composer = this.makeComposer();
		this.time = new Timeline(this);
		this.inspector = new Inspector(this);
		this.scrub = new Scrubber(this);
		this.views.time = this.time;
		this.tabs = el('div.tabs', {role: 'tablist', 'aria-label': 'Views'},
			...TABS.map(([k, t]) => el('button', {type: 'button', role: 'tab', id: 'tab-' + k,
				class: 'tab t-' + k, 'aria-controls': k === 'talk' ? 'talk' : 'view',
				on: {click: () => k === 'more' ? this.more() : this.tab(k)}}, t)));
		on(this.tabs, 'keydown', e => this.tabKey(e));
		this.view = el('div.view', {id: 'view', role: 'tabpanel'}, this.time.node);
		this.talkPane = el('section.pane-talk', {id: 'talk',
			'aria-label': 'Conversation'}, this.talk.node, this.cards.node, this.composer);
		this.node = el('div.run', this.scrub.node, el('div', {class: 'split'},
			this.talkPane, el('section.pane-view', {'aria-label': 'Views'},
				this.tabs, this.view, this.inspector.node)));
		main.replaceChildren(this.node);
	}

	makeComposer() {
		this.text = el('textarea', {rows: 1, id: 'say', 'aria-label': 'Message',
			placeholder: 'Say something to the run', dir: 'auto'});
		this.send = el('button.main', 'Say');
		this.sayNote = el('span.mute.note', {role: 'status'});
		const form = el('form.composer', this.text, this.sayNote, this.send);
		const grow = () => {
			this.text.style.setProperty('height', 'auto');
			this.text.style.setProperty('height', Math.min(200, this.text.scrollHeight + 2) + 'px');
		};
		on(this.text, 'input', grow);
		on(this.text, 'keydown', e => {
			if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
				e.preventDefault();
				form.requestSubmit();
			}
		});
		on(form, 'submit', async e => {
			e.preventDefault();
			const text = this.text.value.trim();
			if (!text || this.send.disabled) return;
			this.send.disabled = true;
			try {
				await this.said(text);
				this.text.value = '';
				this.sayNote.textContent = '';
				grow();
			} catch (err) {
				this.sayNote.textContent = err.message;
			}
			this.send.disabled = false;
			this.head();
		});
		return form;
	}

	/* Into the run while it goes on; afterwards as the next of a conversation. */
	async said(text) {
		if (!this.over() && !this.dead()) {
			const r = await api.post(api.run(this.id, '/say'), {text});
			say(r.told === 'queued' ? 'queued' : 'said');
			return;
		}
		const r = await api.ask('/v1/runs', {method: 'POST', headers: api.idempotency(),
			body: {prompt: text, follow: this.id}});
		this.next(r.run);
	}

	next(run) { go(runHref(run)); }

	tab(name, quiet) {
		if (!TABS.some(([k]) => k === name) || name === 'more') name = 'time';
		this.node.dataset.tab = name;
		this.tabs.classList.remove('open');
		for (const b of this.tabs.children) {
			const on = b.id === 'tab-' + name;
			b.setAttribute('aria-selected', String(on));
			b.tabIndex = on ? 0 : -1;
		}
		const key = name === 'talk' ? 'time' : name;
		this.current = key;
		if (!quiet) query({v: name === 'time' ? null : name});
		const view = this.views[key];
		if (view) {
			this.view.replaceChildren(view.node);
			this.redraw = true;
			this.soon();
		} else LATER[key]().then(m => {
			this.views[key] ??= new m.View(this);
			if (this.current === key) this.tab(name, true);
		});
	}

	more() { this.tabs.classList.toggle('open'); }

	tabKey(e) {
		const by = {ArrowRight: 1, ArrowLeft: -1}[e.key];
		if (!by) return;
		const list = [...this.tabs.children].filter(b => b.checkVisibility());
		const next = list[(list.indexOf(document.activeElement) + by + list.length) %
			list.length];
		e.preventDefault();
		next.focus();
		if (next.id !== 'tab-more') next.click();
	}

	params(p) {
		this.want = {seq: +p.get('e') || 0, call: p.get('c'), action: p.get('a'),
			turn: p.get('t'), at: +p.get('at') || 0, z: p.get('z')};
		this.tab(p.get('v') || (matchMedia('(max-width: 699px)').matches ? 'talk' : 'time'), true);
		if (!this.loading) this.place();
	}

	/* What the address asks for, once it is known. */
	place() {
		const w = this.want, s = this.log.state;
		if (w.at) this.goTo(w.at);
		if (w.z) this.time.zoomTo(w.z);
		let span = -1;
		const find = f => s.spans.findIndex(f);
		if (w.seq) return this.select({seq: w.seq}, true);
		if (w.call) span = find(p => p.kind === 'call' && p.key === w.call &&
			(!w.turn || p.turn === +w.turn));
		else if (w.action) span = find(p => p.kind === 'action' && p.key === w.action);
		else if (w.turn) span = find(p => p.kind === 'turn' && p.turn === +w.turn);
		else if (s.outcome === 'failed') span = this.firstCause();
		if (span >= 0) this.select({span}, true);
	}

	/* A failed run opens at what failed first and was not made good. */
	firstCause() {
		const s = this.log.state, bad = s.spans.filter(p => BAD.has(p.state) &&
			p.kind !== 'turn' && p.kind !== 'plan');
		const code = s.error?.message;
		const hit = bad.find(p => p.error && code && (p.error.message === code ||
			code.includes(p.error.message))) ?? bad.at(-1);
		return hit ? hit.i : -1;
	}

	/* -- Loading and following */

	async load() {
		try {
			this.row = await api.ask(api.run(this.id));
			this.head();
			/* The next page comes while this one is folded. */
			const page = from => api.ask(api.run(this.id,
				`/events?format=json&from=${from}&limit=${PAGE}`), {text: true});
			for (let coming = page(1); coming;) {
				const {lines, next} = pageLines(await coming);
				if (this.closed) return;
				coming = next && page(next);
				for (const l of lines) this.queue.push(l);
				await this.drained();
			}
		} catch (e) {
			if (this.closed) return;
			this.node.replaceChildren(el('div.empty', el('h2', {},
				e.status === 404 ? 'No such run' : 'This run cannot be shown'),
			el('p', plain(e.message, 400)), el('p', el('a', {href: '/'}, 'All runs'))));
			return;
		}
		this.loading = false;
		this.place();
		if (!this.over() && !this.dead()) this.follow();
		this.redraw = true;
		this.soon();
	}

	drained() {
		this.soon();
		return new Promise(done => { this.onDrained = done; });
	}

	follow() {
		this.first = true;
		this.stream?.close();
		this.stream = api.stream({
			path: () => api.run(this.id, '/events'), last: () => {
				/* At first from what is open, so that its text comes as a whole. */
				const seq = this.first ? this.log.from() - 1 : this.log.state.seq;
				this.first = false;
				return seq;
			}, frame: (id, event, data) => {
				if (event === 'lagged') return;
				this.queue.push(data);
				this.soon();
			}, over: () => this.over() || this.queue.slice(this.qi).some(l =>
				l.includes('"type":"run_end"')), state: (what, at) => {
				shell.lost(what === 'lost' ? at : 0);
				if (what === 'over' && !this.over()) this.refresh();
			}, });
	}

	async refresh() {
		try {
			this.row = {...this.row, ...await api.ask(api.run(this.id))};
			this.soon();
		} catch { /* the feed tells */ }
	}

	soon() {
		if (!this.frame && !this.closed)
			this.frame = requestAnimationFrame(() => { this.frame = 0; this.step(); });
	}

	step() {
		const t = performance.now(), was = this.log.state.seq;
		while (this.qi < this.queue.length) {
			this.log.add(this.queue[this.qi++]);
			if ((this.qi & 15) === 0 && performance.now() - t > BUDGET_MS) break;
		}
		if (this.qi >= this.queue.length) {
			this.queue = [];
			this.qi = 0;
			const done = this.onDrained;
			this.onDrained = null;
			done?.();
		}
		const s = this.log.state;
		if (s.seq !== was && s.time && !this.skew && !this.loading)
			this.skew = Math.min(0, s.time - Date.now() / 1000);
		this.draw();
		if (s.outcome && was !== s.seq && !this.loading) {
			say('the run ended: ' + stateWord({state: s.outcome, ...s}));
		}
		if (this.queue.length || this.talk.late()) this.soon();
	}

	draw() {
		const s = this.state, view = this.views[this.current];
		/* A long log is drawn after its first page, and when all of it is there. */
		if (!s.run || (this.loading && (this.queue.length || this.drew))) return;
		const first = !this.drew || this.drew === 1 && !this.loading;
		this.drew = this.loading ? 1 : 2;
		this.talk.update(s);
		this.cards.update(this.log.state, !this.past);
		this.head();
		/* The rest of a first picture in frames of its own. */
		if (first) {
			this.redraw = true;
			requestAnimationFrame(() => requestAnimationFrame(() => this.drawRest(this.state, view)));
		} else this.drawRest(s, view);
	}

	drawRest(s, view) {
		if (this.closed) return;
		view?.update(s, this.redraw);
		this.scrub.update(this.log.state);
		this.inspector.update(s);
		this.redraw = false;
	}

	tick() {
		if (document.hidden || this.over() || this.past || this.dead()) return;
		this.soon();
	}

	/* -- The header */

	head() {
		const s = this.state, r = this.row, state = s.run ? this.status() : r?.status ?? 'queued';
		const prompt = oneLine(s.run?.prompt ?? r?.prompt ?? '', 100);
		const m = s.metrics, t0 = s.t0 || r?.started;
		const took = t0 ? ms(Math.max(0, (this.over() || this.past ? s.time :
			t0 + Math.floor(this.now() - t0)) - t0) * 1000) : '';
		const word = state === 'running' ? 'running' : stateWord({state,
			error: s.error, limit: s.limit, by: s.by});
		const tokens = m ? m.tokens_in + m.tokens_out : 0;
		const key = [state, word, took, tokens, m?.cost, prompt, !!this.past].join('|');
		if (key === this.headKey) return;
		const fresh = this.headKey == null || this.headKey.split('|')[5] !== prompt;
		this.headKey = key;
		if (fresh) shell.crumbs(el('a', {href: '/'}, 'runs'),
			el('span.here', {'aria-current': 'page', title: prompt}, foreign(prompt || this.id)));
		shell.facts(badge(state, word), el('span.num', took),
			tokens ? el('span.num.wide-only', {title: 'tokens in and out'},
				count(tokens) + ' tokens') : '', el('span.num.wide-only', m ? cost(m.cost) : ''));
		shell.title(`${{ok: '\u2713', failed: '\u2717', waiting: '\u23f8',
			running: '\u25cb'}[state] ?? '\u2013'} ${prompt || 'run'} \u2013 wend`, state);
		this.actions(state);
		const over = this.over() || this.dead();
		this.send.textContent = over ? 'Follow up' : 'Say';
		this.text.placeholder = over ? 'Continue the conversation' : 'Say something to the run';
		this.send.disabled = this.text.disabled = !!this.past;
	}

	actions(state) {
		const key = state + !!this.past + !!this.log.state.seq;
		if (key === this.actKey) return;
		this.actKey = key;
		const act = (text, what, cls, off) => el('button', {type: 'button',
			class: cls || null, disabled: off || null, on: {click: e =>
				this.act(what, e.currentTarget)}}, text);
		const past = !!this.past, list = [];
		if (state === 'running' || state === 'waiting' || state === 'queued')
			list.push(act('Pause', 'pause', 'second', past), act('Cancel', 'cancel', 'danger'));
		if (state === 'paused') list.push(act('Continue', 'continue', 'main', past),
			act('Cancel', 'cancel', 'danger'));
		if (state === 'interrupted') list.push(act('Resume', 'resume', 'main', past));
		if (state === 'failed' || state === 'canceled' || state === 'limit')
			list.push(act('Retry', 'retry', 'main', past));
		list.push(act('Fork', 'fork', 'second', !this.log.state.seq));
		list.push(act('Save', 'save', 'second'));
		shell.acts(...list);
	}

	async act(what, button) {
		if (what === 'fork') return this.scrub.fork();
		if (what === 'save') return (await import('./save.js')).save(this);
		button.disabled = true;
		try {
			const r = await api.post(api.run(this.id, '/' + what));
			if (what === 'retry') this.next(r.run);
			else if (what === 'resume') { this.row.status = 'running'; this.follow(); }
			say(what + ' sent');
		} catch (e) {
			say(e.message);
			this.sayNote.textContent = e.message;
		}
		setTimeout(() => { button.disabled = false; }, 1000);
	}

	/* -- Selection and the past */

	select(what, quiet) {
		const s = this.state;
		this.chosen = what;
		const p = what?.span >= 0 ? s.spans[what.span] : null;
		if (p) {
			query({e: null, c: p.kind === 'call' ? p.key : null, a: p.kind === 'action' ? p.key : null,
				t: p.kind === 'call' || p.kind === 'turn' ? p.turn : null,
				...(p.kind === 'call' || p.kind === 'action' || p.kind === 'turn' ? {} : {e: p.seq})});
		} else query({e: what?.seq ?? null, c: null, a: null, t: null});
		this.inspector.show(what);
		if (quiet && p && p.item >= 0) this.talk.show(p.item);
		if (p) this.time.reveal(p.i);
		this.redraw = true;
		this.soon();
	}

	/* The state after event `seq`; null is now. */
	goTo(seq) {
		if (seq === null || seq >= this.log.state.seq) {
			this.past = null;
			this.at = null;
		} else {
			this.at = Math.max(1, seq);
			this.past = this.log.at(this.at);
		}
		query({at: this.at});
		this.node.classList.toggle('in-past', !!this.past);
		this.headKey = this.headKey == null ? undefined : 'x|x|x|x|x|' +
			this.headKey.split('|')[5];
		this.talk.follow = true;
		this.talk.state = null;
		this.redraw = true;
		this.soon();
	}

	/* The next span that went wrong. */
	nextBad() {
		const bad = this.state.spans.filter(p => BAD.has(p.state) && p.kind !== 'turn');
		if (!bad.length) return say('nothing failed');
		const at = this.chosen?.span ?? -1, p = bad.find(b => b.i > at) ?? bad[0];
		this.select({span: p.i}, true);
	}

	turn(by) {
		const turns = this.state.spans.filter(p => p.kind === 'turn');
		if (!turns.length) return;
		const cur = this.chosen?.span >= 0 ? this.state.spans[this.chosen.span].turn : -1;
		const i = turns.findIndex(p => p.turn === cur);
		const p = turns[Math.max(0, Math.min(turns.length - 1, i < 0 ?
			(by > 0 ? 0 : turns.length - 1) : i + by))];
		this.select({span: p.i}, true);
		const model = this.state.spans.find(x => x.parent === p.i && x.item >= 0);
		if (model) this.talk.show(model.item);
	}

	key(e) {
		const k = e.key;
		if (k === 'n') this.nextBad();
		else if (k === '[' || k === ']') this.turn(k === ']' ? 1 : -1);
		else if (k === 'l') { this.goTo(null); this.time.live(); this.talk.toEnd(); }
		else if (k === 'y') import('./text.js').then(t => t.copy(location.href));
		else if (k === '/') this.tab('events') ?? setTimeout(() =>
			document.getElementById('event-filter')?.focus(), 100);
		else if (k === 'g' && this.wasG) this.talk.window(0) ?? (this.talk.log.scrollTop = 0);
		else if (k === 'G') this.talk.toEnd();
		else if (k === 'Escape' && this.chosen) this.select(null);
		else if (!this.views[this.current]?.key?.(e)) {
			this.wasG = k === 'g';
			return k === 'g';
		}
		this.wasG = false;
		return true;
	}

	close() {
		this.closed = true;
		keep('last', this.id);
		this.stream?.close();
		this.cards.close();
		this.time.close();
		clearInterval(this.timer);
		cancelAnimationFrame(this.frame);
		api.bus.removeEventListener('run', this.onRow);
		removeEventListener('wend-clock', this.again);
		removeEventListener('wend-theme', this.again);
	}
}

export async function open(main, [id], params) {
	const page = new RunPage(main, id, params);
	page.load();
	return {close: () => page.close(), change: p => page.params(p),
		key: e => page.key(e), ownStream: true, page};
}
