/* run.js - the page of one run: loads its log, follows it, and shows it in
 * views. One queue, one frame: lines are folded and views redrawn at most once
 * a frame, and never for longer than BUDGET_MS. */
import {el, button, badge, foreign, oneLine, plain, stateWord, ms, count, cost, say, copy, on, frames, runHref,
	BAD} from './text.js';
import {Log, pageLines} from './fold.js';
import * as api from './api.js';
import {shell, go, query} from './main.js';
import {Talk} from './talk.js';
import {Approvals} from './approve.js';
import {Timeline} from './time.js';
import {Inspector} from './inspect.js';
import {Scrubber} from './scrub.js';

const BUDGET_MS = 8;
const PAGE = 1000;
const TABS = ['Talk', 'Time', 'Graph', 'Context', 'Numbers', 'Events', 'More'];
const LATER = {graph: () => import('./graph.js'), context: () => import('./context.js'),
	numbers: () => import('./numbers.js'), events: () => import('./events.js')};

/* A message to send: Enter sends, `send` may fail with a reason. */
export function composer(text, name, send) {
	const note = el('span.note', {role: 'status'}), go = el('button.main', name), form = el('form.composer', text, note, go);
	on(text, 'keydown', e => {
		if (e.key !== 'Enter' || e.shiftKey || e.isComposing) return;
		e.preventDefault();
		form.requestSubmit();
	});
	on(form, 'submit', async e => {
		e.preventDefault();
		const words = text.value.trim();
		if (!words || go.disabled) return;
		go.disabled = true;
		note.textContent = '';
		try {
			await send(words);
			text.value = '';
		} catch (err) {
			note.textContent = plain(err.message + (err.body?.hint ? '; ' + err.body.hint : ''), 400);
		}
		go.disabled = false;
	});
	return {form, go, note};
}

export class RunPage {
	constructor(main, id, params) {
		Object.assign(this, {id, log: new Log(), queue: [], qi: 0, at: null, loading: true});
		this.soon = frames(() => this.step());
		this.build(main);
		this.params(params);
		this.end = new AbortController();
		on(api.bus, 'run', ({detail: r}) => {
			if (r.run !== id) return;
			this.row = {...this.row, ...r};
			if (!this.loading && !this.stream && !this.over() && !this.dead()) this.follow();
			this.soon();
		}, this.end);
		on(window, 'wend-look', () => this.again(), this.end);
		this.timer = setInterval(() => document.hidden || this.over() || this.past || this.dead() || this.soon(), 1000);
	}

	get state() { return this.past ?? this.log.state; }
	over() { return !!this.log.state.outcome; }
	dead() { return this.row?.status === 'interrupted' && !this.over(); }
	now() {
		const {time} = this.log.state;
		return this.past ? this.past.time : this.over() || this.dead() ? time :
			Math.max(time, Date.now() / 1000 + (this.skew ?? 0));
	}

	/* -- The page */

	build(main) {
		main.className = 'page-run';
		this.talk = new Talk(this);
		this.cards = new Approvals(this);
		this.time = new Timeline(this);
		this.inspector = new Inspector(this);
		this.scrub = new Scrubber(this);
		this.views = {time: this.time};
		this.text = el('textarea', {rows: 1, id: 'say', 'aria-label': 'Message', dir: 'auto'});
		this.box = composer(this.text, 'Say', t => this.said(t));
		this.tabs = el('div.tabs', {role: 'tablist', 'aria-label': 'Views', on: {keydown: e => this.tabKey(e)}}, ...TABS.map(t => {
			const k = t.toLowerCase();
			return button(t, () => k === 'more' ? this.tabs.classList.toggle('open') : this.tab(k),
				{role: 'tab', id: 'tab-' + k, class: 'tab t-' + k, 'aria-controls': k === 'talk' ? 'talk' : 'view'});
		}));
		this.view = el('div.view', {id: 'view', role: 'tabpanel', 'aria-label': 'View'}, this.time.node);
		this.node = el('div.run', this.scrub.node, el('div.split', el('section.pane-talk', {id: 'talk', 'aria-label': 'Conversation'},
			this.talk.node, this.cards.node, this.box.form),
		el('section.pane-view', {'aria-label': 'Views'}, this.tabs, this.view, this.inspector.node)));
		main.replaceChildren(this.node);
	}

	/* Into the run while it goes on; afterwards as the next of a conversation. */
	async said(text) {
		if (!this.over() && !this.dead()) return say((await api.post(api.run(this.id, '/say'), {text})).told);
		this.next((await api.post('/v1/runs', {prompt: text, follow: this.id}, api.idempotency())).run);
	}

	next(run) { go(runHref(run)); }

	tab(name, quiet) {
		const key = name === 'talk' || !LATER[name] ? 'time' : name, view = this.views[this.current = key];
		if (name !== 'talk') name = key;
		this.node.dataset.tab = name;
		this.tabs.classList.remove('open');
		for (const b of this.tabs.children) {
			const chosen = b.id === 'tab-' + name;
			b.setAttribute('aria-selected', chosen);
			b.tabIndex = chosen ? 0 : -1;
		}
		if (!quiet) query({v: name === 'time' ? null : name});
		if (!view) return LATER[key]().then(m => {
			this.views[key] ??= new m.View(this);
			if (this.current === key) this.tab(name, true);
		});
		this.view.replaceChildren(view.node);
		this.again();
	}

	tabKey(e) {
		const by = {ArrowRight: 1, ArrowLeft: -1}[e.key], list = [...this.tabs.children].filter(b => b.checkVisibility());
		if (!by) return;
		const next = list.at((list.indexOf(document.activeElement) + by) % list.length);
		e.preventDefault();
		next.focus();
		if (next.id !== 'tab-more') next.click();
	}

	params(p) {
		this.want = p;
		this.tab(p.get('v') || (matchMedia('(max-width: 699px)').matches ? 'talk' : 'time'), true);
		if (!this.loading) this.place();
	}

	/* What the address asks for, once it is known; a failed run opens at what
	 * failed first and was not made good. */
	place() {
		const w = this.want, {spans, outcome, error} = this.log.state, [c, a, t] = ['c', 'a', 't'].map(k => w.get(k));
		if (w.get('at')) this.goTo(+w.get('at'));
		if (w.get('z')) this.time.zoomTo(w.get('z'));
		if (w.get('e')) return this.select({seq: +w.get('e')}, true);
		const is = (kind, key) => p => p.kind === kind && (key == null || p.key === key) && (t == null || p.turn === +t);
		const bad = spans.filter(p => BAD.has(p.state) && p.kind !== 'turn' && p.kind !== 'plan');
		const hit = c != null ? spans.find(is('call', c)) : a != null ? spans.find(is('action', a)) :
			t != null ? spans.find(is('turn')) : outcome === 'failed' ? bad.find(p => p.error && error?.message.includes(p.error.message)) ??
				bad.at(-1) : null;
		if (hit) this.select({span: hit.i}, true);
	}

	/* -- Loading and following */

	async load() {
		try {
			this.row = await api.ask(api.run(this.id));
			this.head();
			/* The next page comes while this one is folded. */
			const page = from => api.ask(api.run(this.id, `/events?format=json&from=${from}&limit=${PAGE}`), {text: true});
			for (let coming = page(1); coming;) {
				const {lines, next} = pageLines(await coming);
				if (this.closed) return;
				coming = next && page(next);
				this.queue.push(...lines);
				this.soon();
				await new Promise(done => { this.drained = done; });
			}
		} catch (e) {
			if (!this.closed) this.node.replaceChildren(el('div.empty', el('h2', e.status === 404 ? 'No such run' :
				'This run cannot be shown'), el('p', plain(e.message, 400)), el('a', {href: '/'}, 'All runs')));
			return;
		}
		this.loading = false;
		this.place();
		if (!this.over() && !this.dead()) this.follow();
		this.again();
	}

	follow() {
		let first = true;
		this.stream?.close();
		this.stream = api.stream({
			path: () => api.run(this.id, '/events'),
			last: () => {
				/* At first from what is open, so that its text comes as a whole. */
				const seq = first ? this.log.from() - 1 : this.log.state.seq;
				first = false;
				return seq;
			},
			frame: (event, data) => {
				if (event === 'lagged') return;
				this.queue.push(data);
				this.soon();
			},
			over: async () => {
				if (this.over() || this.queue.some(l => l.includes('"type":"run_end"'))) return true;
				this.row = {...this.row, ...await api.ask(api.run(this.id))};
				return this.dead();
			},
			state: async (what, at) => {
				shell.lost(what === 'lost' ? at : 0);
				if (what !== 'over') return;
				this.stream = null;
				if (!this.over()) this.row = {...this.row, ...await api.ask(api.run(this.id))};
				this.soon();
			},
		});
	}

	again() { this.redraw = true; this.soon(); }

	step() {
		if (this.closed) return;
		const t = performance.now(), was = this.log.state.seq, s = this.log.state;
		while (this.qi < this.queue.length) {
			this.log.add(this.queue[this.qi++]);
			if ((this.qi & 15) === 0 && performance.now() - t > BUDGET_MS) break;
		}
		if (this.qi >= this.queue.length) {
			this.queue = [];
			this.qi = 0;
			this.drained?.();
			this.drained = null;
		}
		if (s.seq !== was && !this.loading) this.skew ??= Math.min(0, s.time - Date.now() / 1000);
		this.draw();
		if (s.outcome && was !== s.seq && !this.loading) say('the run ended: ' + stateWord({...s, state: s.outcome}));
		if (this.queue.length || this.talk.late()) this.soon();
	}

	draw() {
		const s = this.state;
		/* A long log is drawn after its first page, and when all of it is there. */
		if (!s.run || this.loading && (this.queue.length || this.drew)) return;
		const first = !this.drew || this.drew === 1 && !this.loading;
		this.drew = this.loading ? 1 : 2;
		this.talk.update(s);
		this.cards.update(this.log.state, !this.past);
		this.head();
		const rest = () => {
			if (this.closed) return;
			this.views[this.current]?.update(this.state, this.redraw);
			this.inspector.update(this.state);
			this.scrub.update(this.log.state);
			this.redraw = false;
		};
		/* The rest of a first picture in a frame of its own. */
		if (!first) return rest();
		this.redraw = true;
		requestAnimationFrame(() => requestAnimationFrame(rest));
	}

	/* -- The header */

	head() {
		const s = this.state, r = this.row, over = this.over() || this.dead(), past = !!this.past;
		const state = !s.run ? r?.status ?? 'queued' : this.dead() && !past ? 'interrupted' : s.status;
		const prompt = oneLine(s.run?.prompt ?? r?.prompt ?? '', 100), m = s.metrics, t0 = s.t0 || r?.started || 0;
		const time = this.now() - t0, took = ms((over || past ? time : Math.floor(time)) * 1000);
		const word = state === 'running' ? state : stateWord({...s, state}), tokens = m ? m.tokens_in + m.tokens_out : 0;
		const key = [state, word, took, tokens, m?.cost, past, !!s.seq, prompt].join();
		if (key === this.headKey) return;
		this.headKey = key;
		shell.crumbs(el('a', {href: '/'}, 'runs'), foreign(prompt || this.id));
		shell.facts(badge(state, word), el('span.num', took), el('span.num.wide-only', tokens ? count(tokens) + ' tokens' : ''),
			el('span.num.wide-only', m ? cost(m.cost) : ''));
		shell.title(`${{ok: '\u2713', failed: '\u2717', waiting: '\u23f8', running: '\u25cb'}[state] ?? '\u2013'} ${
			prompt || 'run'} \u2013 wend`, state);
		this.actions(state + past + !!s.seq, state, past);
		this.box.go.textContent = over ? 'Follow up' : 'Say';
		this.text.placeholder = over ? 'Continue the conversation' : 'Say something to the run';
		this.box.go.disabled = this.text.disabled = past;
	}

	/* In the past only Cancel acts. */
	actions(key, state, past) {
		if (key === this.actKey) return;
		this.actKey = key;
		const act = (name, cls, off = past) => button(name, e => this.act(name.toLowerCase(), e.currentTarget), {class: cls, disabled: off});
		const open = ['running', 'waiting', 'queued'].includes(state);
		shell.acts(...[open && act('Pause', 'second'), state === 'paused' && act('Continue', 'main'),
			(open || state === 'paused') && act('Cancel', 'danger', false), state === 'interrupted' && act('Resume', 'main'),
			['failed', 'canceled', 'limit'].includes(state) && act('Retry', 'main'),
			act('Fork', 'second', !this.log.state.seq), act('Save', 'second', false)].filter(Boolean));
	}

	async act(what, from) {
		if (what === 'fork') return this.scrub.fork();
		if (what === 'save') return (await import('./save.js')).save(this);
		from.disabled = true;
		try {
			const r = await api.post(api.run(this.id, '/' + what));
			if (what === 'retry') this.next(r.run);
			else if (what === 'resume') { this.row.status = 'running'; this.follow(); }
			say(what + ' sent');
		} catch (e) {
			say(this.box.note.textContent = plain(e.message, 200));
		}
		setTimeout(() => { from.disabled = false; }, 1000);
	}

	/* -- Selection and the past */

	/* {span} or {seq}; `jump`: the conversation goes there, too. */
	select(what, jump) {
		const p = this.state.spans[what?.span];
		this.chosen = what;
		query({c: p?.kind === 'call' ? p.key : null, a: p?.kind === 'action' ? p.key : null,
			t: ['call', 'turn'].includes(p?.kind) ? p.turn : null,
			e: !p ? what?.seq : ['call', 'action', 'turn'].includes(p.kind) ? null : p.seq});
		this.inspector.show(what);
		if (jump && p?.item >= 0) this.talk.show(p.item);
		if (p) this.time.reveal(p.i);
		this.again();
	}

	/* The state after event `seq`; null is now. */
	goTo(seq) {
		this.at = seq === null || seq >= this.log.state.seq ? null : Math.max(1, seq);
		this.past = this.at && this.log.at(this.at);
		query({at: this.at});
		this.node.classList.toggle('in-past', !!this.past);
		this.talk.follow = true;
		this.talk.state = null;
		this.drew = 1;
		this.again();
	}

	nextBad() {
		const bad = this.state.spans.filter(p => BAD.has(p.state) && p.kind !== 'turn');
		const p = bad.find(b => b.i > (this.chosen?.span ?? -1)) ?? bad[0];
		if (p) this.select({span: p.i}, true);
		else say('nothing failed');
	}

	turn(by) {
		const {spans} = this.state, turns = spans.filter(p => p.kind === 'turn');
		const i = turns.findIndex(p => p.turn === spans[this.chosen?.span]?.turn);
		const p = turns[Math.max(0, Math.min(turns.length - 1, i < 0 && by < 0 ? 1e9 : i + by))];
		if (!p) return;
		this.select({span: p.i});
		this.talk.show(spans.find(x => x.parent === p.i && x.item >= 0)?.item ?? -1);
	}

	key(e) {
		const k = e.key, twice = this.wasG;
		this.wasG = k === 'g';
		if (k === 'n') this.nextBad();
		else if (k === '[' || k === ']') this.turn(k === ']' ? 1 : -1);
		else if (k === 'l') { this.goTo(null); this.time.fit(); this.talk.toEnd(); }
		else if (k === 'y') copy(location.href);
		else if (k === '/') {
			this.tab('events');
			setTimeout(() => document.getElementById('event-filter')?.focus(), 100);
		} else if (k === 'g') twice && this.talk.toStart();
		else if (k === 'G') this.talk.toEnd();
		else if (k === 'Escape' && this.chosen) this.select(null);
		else return this.views[this.current]?.key?.(e);
		return true;
	}

	close() {
		this.closed = true;
		this.stream?.close();
		this.cards.close();
		this.time.close();
		this.end.abort();
		clearInterval(this.timer);
	}
}

export async function open(main, [id], params) {
	const page = new RunPage(main, id, params);
	page.load();
	return {close: () => page.close(), change: p => page.params(p), key: e => page.key(e), ownStream: true, page};
}
