/* fold.js - events of a run, folded to what the page shows. Pure: no clock, no
 * document.
 *
 * Objects in a state are never changed, only replaced: a snapshot copies the
 * lists and shares what is in them. Keys that come from outside live in Maps. */

const SNAP = 256; /* kept events between snapshots */
const LIVE_MAX = 65536; /* characters of output that still comes */

export function begin() {
	return {
		seq: 0, time: 0, t0: 0, delta: [0, 0],
		run: null, status: 'running', outcome: null, error: null, limit: null,
		text: '', metrics: null, epoch: 0, by: null, fork: null,
		spans: [], items: [], marks: [], gaps: [], children: [],
		open: new Map(), /* key of what is open -> index of its span */
		asks: new Map(), /* key -> index of the span that waits */
		deps: new Map(), /* action -> what plan_start says about it */
		turn: -1, plan: -1, model: -1, paused: false, };
}

export function copyState(s) {
	return {...s, delta: [...s.delta], spans: s.spans.slice(),
		items: s.items.slice(), marks: s.marks.slice(), gaps: s.gaps.slice(),
		children: s.children.slice(), open: new Map(s.open),
		asks: new Map(s.asks), deps: new Map(s.deps)};
}

/* -- Spans */

function add(s, e, span) {
	const i = s.spans.length;
	s.spans.push({i, seq: e.seq, end: 0, t0: e.time, t1: null, state: 'running',
		turn: e.turn ?? -1, item: -1, parent: -1, ...span});
	return i;
}

function set(s, i, change) {
	s.spans[i] = {...s.spans[i], ...change};
}

function item(s, e, it) {
	const i = s.items.length;
	s.items.push({i, seq: e.seq, time: e.time, turn: e.turn ?? -1, ...it});
	if (it.span >= 0) set(s, it.span, {item: i});
	return i;
}

const note = (s, e, text, level, more) =>
	item(s, e, {kind: 'note', text, level: level || 'info', ...more});

function close(s, e, key, change) {
	const i = s.open.get(key);
	if (i === undefined) return -1;
	s.open.delete(key);
	set(s, i, {end: e.seq, t1: e.time, ...change});
	return i;
}

const callKey = (e, id) => `c/${e.turn ?? -1}/${id}`;
const actKey = id => 'a/' + id;
const askKey = (e, d) => d.call !== undefined ? callKey(e, d.call) : actKey(d.action);
const modelKey = (e, d) => `m/${d.action ?? ''}/${d.branch ?? ''}`;

function status(s) {
	if (s.outcome) s.status = s.outcome;
	else s.status = s.asks.size ? 'waiting' : s.paused ? 'paused' : 'running';
}

/* The span of a call or an action, made when it is first heard of. */
function worker(s, e, key, kind, d) {
	let i = s.open.get(key);
	if (i !== undefined) return i;
	const info = kind === 'action' ? s.deps.get(d.action) : null;
	const of = kind === 'action' ? s.plan : s.model >= 0 &&
		s.spans[s.model].turn === (e.turn ?? -1) ? s.model : s.turn;
	i = add(s, e, {kind, key: kind === 'call' ? d.call : d.action,
		name: d.name ?? info?.name ?? '', parent: of, pieces: [], run0: null,
		args: d.args ?? d.params ?? null, ask: null, child: null,
		wave: info?.wave ?? 0, deps: info?.depends_on ?? null,
		estimate: info?.estimate_ms ?? 0, live: ''});
	s.open.set(key, i);
	item(s, e, {kind, span: i});
	return i;
}

function started(s, e, key, kind, d) {
	const i = worker(s, e, key, kind, d), was = s.spans[i];
	set(s, i, {state: 'running', run0: was.run0 ?? e.time, start: e.seq,
		args: d.args ?? d.params, invalid: !!d.args_invalid, class: d.class ?? null,
		policy: d.policy ?? null, attempt: d.attempt, type: d.type ?? null,
		mode: d.mode ?? null, target: d.target ?? null, idem: d.key ?? null,
		pieces: [...was.pieces, {t0: e.time, t1: null, state: 'running'}]});
}

function ended(s, e, key, kind, d) {
	const i = worker(s, e, key, kind, d), was = s.spans[i];
	s.asks.delete(key);
	close(s, e, key, {state: d.outcome, output: d.output, ms: d.ms,
		error: d.error ?? null, cached: !!d.cached, truncated: !!d.truncated,
		labels: d.labels ?? null, given: d.given ?? null, reason: d.reason ?? null,
		structured: d.structured, parts: d.parts ?? null, live: '',
		by: d.outcome === 'canceled' ? s.by : null, pieces: was.pieces.map(p => p.t1 === null ?
			{...p, t1: e.time, state: d.outcome} : p)});
	status(s);
}

/* -- Deltas */

function delta(s, e, field) {
	const [seq, n] = s.delta, d = e.data;
	if (e.seq < seq || (e.seq === seq && e.n <= n)) return; /* a repeat */
	s.delta = [e.seq, e.n];
	if (field === 'live') {
		const i = s.open.get(askKey(e, d));
		if (i !== undefined) set(s, i, {live: (s.spans[i].live + d.text)
			.slice(-LIVE_MAX)});
		return;
	}
	const i = s.open.get(modelKey(e, d));
	if (i === undefined) return;
	const was = s.spans[i], change = {};
	/* What model_part says already is not said again. */
	if (e.seq < was.sealed) return;
	if (was.first === null) change.first = e.time;
	if (field === 'args') change.writing = (was.writing || 0) + d.text.length;
	else change[field] = was[field] + d.text;
	set(s, i, change);
}

/* -- The events */

const on = {
	run_start(s, e, d) {
		s.t0 = e.time;
		s.run = {id: e.run, prompt: d.prompt, agent: d.agent, model: d.model,
			user: d.user ?? null, session: d.session ?? null, cwd: d.cwd,
			limits: d.limits, labels: d.labels ?? {}, plan: d.plan ?? null,
			parent: d.parent_run ?? null, follows: d.follows ?? null,
			tools: d.config?.tools?.length ?? 0, instructions: d.config?.instructions ?? '',
			policy: d.config?.policy ?? null, parts: d.parts ?? null};
		if (d.messages) item(s, e, {kind: 'past', messages: d.messages, follows: d.follows ?? null});
		item(s, e, {kind: 'user', text: d.prompt, parts: d.parts ?? null});
	}, run_fork(s, e, d) {
		s.fork = {parent: d.parent, at: d.at};
		if (s.run) s.run = {...s.run, id: e.run, model: d.model ?? s.run.model,
			limits: d.limits ?? s.run.limits};
		s.outcome = null;
		s.gaps.push({t0: s.time, t1: e.time, why: 'forked'});
		s.marks.push({seq: e.seq, kind: 'fork'});
		note(s, e, `forked after event ${d.at}`, 'info', {run: d.parent});
	}, run_resume(s, e, d) {
		s.epoch = d.epoch;
		s.gaps.push({t0: s.time, t1: e.time, why: `resumed (epoch ${d.epoch})`});
		note(s, e, `resumed, epoch ${d.epoch}`, 'info');
		s.outcome = null;
		status(s);
	}, run_end(s, e, d) {
		s.outcome = d.outcome;
		s.text = d.text;
		s.error = d.error ?? null;
		s.limit = d.limit ?? null;
		s.metrics = d.metrics;
		s.asks.clear();
		status(s);
		const last = s.spans.at(-1), told = last?.kind === 'model' &&
			last.error?.message === s.error?.message; /* just above */
		item(s, e, {kind: 'end', outcome: d.outcome, error: told ? null : s.error, limit: s.limit,
			by: s.by, text: s.run?.plan ? d.text : ''});
	}, turn_start(s, e, d) {
		s.turn = add(s, e, {kind: 'turn', key: d.id, name: 'turn ' + d.counter, failed: 0});
		s.open.set('t', s.turn);
		s.marks.push({seq: e.seq, kind: 'turn'});
	}, turn_end(s, e, d) {
		close(s, e, 't', {state: d.outcome, failed: d.failed_calls, calls: d.calls});
	}, context_start(s, e, d) {
		s.open.set('x', add(s, e, {kind: 'context', name: 'context',
			parent: s.turn, budget: d.budget_tokens}));
	}, context_end(s, e, d) {
		close(s, e, 'x', {state: 'ok', tokens: d.tokens, parts: d.parts,
			broke: d.prefix_changed ?? null, hash: d.prefix_hash});
	}, retrieval_start(s, e, d) {
		s.open.set('r', add(s, e, {kind: 'retrieval', name: d.source,
			parent: s.turn, query: d.query, hits: []}));
	}, retrieval_hit(s, e, d) {
		const i = s.open.get('r');
		if (i !== undefined) set(s, i, {hits: [...s.spans[i].hits, d]});
	}, retrieval_end(s, e, d) {
		close(s, e, 'r', {state: d.error ? 'failed' : 'ok', error: d.error ?? null, count: d.count});
	}, compacted(s, e, d) {
		note(s, e, `conversation shortened (${d.method}): ${d.messages_before} to ` +
			`${d.messages_after} messages, ${d.tokens_before} to ${d.tokens_after} ` +
			'tokens', 'info', {detail: d.summary ?? null});
	}, model_start(s, e, d) {
		const a = d.action === undefined ? undefined : s.open.get(actKey(d.action));
		const i = add(s, e, {kind: 'model', key: '', name: d.model,
			purpose: d.purpose, parent: a ?? s.turn, first: null, text: '',
			thinking: '', sealed: 0, attempt: d.attempt, messages: d.messages,
			usage: null, calls: null, branch: d.branch ?? null,
			pieces: [{t0: e.time, t1: null, state: 'running'}]});
		s.open.set(modelKey(e, d), i);
		if (a === undefined) s.model = i;
		if (d.purpose === 'answer' || d.purpose === 'plan')
			item(s, e, {kind: 'model', span: i});
	}, model_part(s, e, d) {
		const i = s.open.get(modelKey(e, d));
		if (i !== undefined) set(s, i, {text: d.text, sealed: e.seq, thinking: d.thinking ?? ''});
	}, model_retry(s, e, d) {
		const i = s.open.get(modelKey(e, d));
		if (i === undefined) return;
		const was = s.spans[i];
		set(s, i, {name: d.next_model || was.name, attempt: d.attempt + 1,
			pieces: [...was.pieces.slice(0, -1), {...was.pieces.at(-1), t1: e.time,
				state: 'failed', reason: d.reason},
			{t0: e.time + d.delay_ms / 1000, t1: null, state: 'running'}]});
		s.marks.push({seq: e.seq, kind: 'retry'});
	}, model_end(s, e, d) {
		let i = close(s, e, modelKey(e, d), {});
		if (i < 0) return;
		const was = s.spans[i];
		set(s, i, {state: d.outcome, text: d.text, thinking: d.thinking ?? '',
			usage: d.usage, ms: d.ms, finish: d.finish, error: d.error ?? null,
			calls: d.calls, by: d.outcome === 'canceled' ? s.by : null,
			first: was.first ?? (d.first_token_ms ?
				Math.min(e.time, was.t0 + d.first_token_ms / 1000) : null),
			pieces: was.pieces.map(p => p.t1 === null ?
				{...p, t0: Math.min(p.t0, e.time), t1: e.time, state: d.outcome} : p)});
		if (d.outcome === 'failed') s.marks.push({seq: e.seq, kind: 'bad'});
	}, approval_ask(s, e, d) {
		const key = askKey(e, d);
		const i = worker(s, e, key, d.call !== undefined ? 'call' : 'action', d);
		set(s, i, {state: 'waiting', args: d.args, ask: {seq: e.seq, t0: e.time,
			t1: null, risk: d.risk, layers: d.layers, reason: d.reason,
			rule: d.rule ?? null, yes: null, by: null}});
		s.asks.set(key, i);
		s.marks.push({seq: e.seq, kind: 'ask'});
		status(s);
	}, approval_answer(s, e, d) {
		const key = askKey(e, d), i = s.asks.get(key);
		s.asks.delete(key);
		if (i !== undefined) set(s, i, {state: d.yes ? 'running' : 'denied',
			rule: d.yes ? null : d.by, ask: {...s.spans[i].ask, t1: e.time,
				yes: d.yes, by: d.by, remember: d.remember ?? null}});
		status(s);
	}, call_start: (s, e, d) => started(s, e, callKey(e, d.call), 'call', d), call_end(s, e, d) {
		ended(s, e, callKey(e, d.call), 'call', d);
		if (d.outcome !== 'ok') s.marks.push({seq: e.seq, kind: 'bad'});
	}, plan_start(s, e, d) {
		for (const a of d.actions) s.deps.set(a.id, a);
		s.plan = add(s, e, {kind: 'plan', key: d.plan, name: d.name, parent: d.call === undefined ? -1 :
				s.open.get(callKey(e, d.call)) ?? s.turn,
			waves: d.waves, estimate: d.critical_path_ms, actions: d.actions.length});
		s.open.set('p', s.plan);
	}, plan_action(s, e, d) {
		if (d.action?.id !== undefined) s.deps.set(d.action.id, {...d.action,
			depends_on: d.action.depends_on ?? [], wave: d.action.wave ?? 0});
	}, action_start: (s, e, d) => started(s, e, actKey(d.action), 'action', d),
	action_retry(s, e, d) {
		const i = s.open.get(actKey(d.action));
		if (i === undefined) return;
		const was = s.spans[i];
		set(s, i, {attempt: d.attempt + 1, pieces: [...was.pieces.slice(0, -1),
			{...was.pieces.at(-1), t1: e.time, state: 'failed',
				reason: d.error?.code}, {t0: e.time + d.delay_ms / 1000, t1: null, state: 'running'}]});
		s.marks.push({seq: e.seq, kind: 'retry'});
	}, action_end(s, e, d) {
		ended(s, e, actKey(d.action), 'action', d);
		if (d.outcome !== 'ok' && d.outcome !== 'skipped')
			s.marks.push({seq: e.seq, kind: 'bad'});
	}, plan_end(s, e, d) {
		close(s, e, 'p', {state: d.outcome, ms: d.ms, ok: d.ok, failed: d.failed, skipped: d.skipped});
	}, branch_start(s, e, d) {
		s.open.set('b/' + d.branch, add(s, e, {kind: 'branch', key: d.branch,
			name: d.label || d.branch, parent: s.turn}));
	}, branch_end(s, e, d) {
		close(s, e, 'b/' + d.branch, {state: d.outcome, text: d.text});
	}, child_start(s, e, d) {
		s.children.push({run: d.run, agent: d.agent, state: 'running'});
		const i = d.call !== undefined || d.action !== undefined ? s.open.get(askKey(e, d)) : undefined;
		if (i !== undefined) set(s, i, {child: d.run, agent: d.agent});
	}, child_end(s, e, d) {
		s.children = s.children.map(c => c.run === d.run ?
			{...c, state: d.outcome, metrics: d.metrics} : c);
	}, message(s, e, d) {
		if (d.by === 'wend') note(s, e, d.text, 'info');
		else item(s, e, {kind: 'user', text: d.text, said: true, role: d.role,
			parts: d.parts ?? null, pinned: !!d.pinned});
	}, control(s, e, d) {
		if (d.what === 'pause') s.paused = true;
		if (d.what === 'continue') s.paused = false;
		if (d.what === 'cancel') s.by = d.by;
		status(s);
		const words = {cancel: 'canceled', pause: 'paused', continue: 'continued',
			limits: 'limits changed', compact: 'asked to shorten the conversation'};
		note(s, e, `${words[d.what] ?? d.what} by ${d.by}`, 'info');
	}, metrics(s, e, d) { s.metrics = d; }, progress(s, e, d) { s.progress = d; },
	warning: (s, e, d) => note(s, e, d.message, 'warn', {code: d.code}), error(s, e, d) {
		note(s, e, d.message, 'error', {code: d.code});
		s.marks.push({seq: e.seq, kind: 'bad'});
	}, };

const DELTAS = {text_delta: 'text', thinking_delta: 'thinking',
	args_delta: 'args', call_output: 'live', action_output: 'live'};

/* One event into a state. True if it was new. */
export function fold(s, e) {
	if (e.n !== undefined) {
		if (Object.hasOwn(DELTAS, e.type)) delta(s, e, DELTAS[e.type]);
		return false;
	}
	if (e.seq !== s.seq + 1) return false;
	s.seq = e.seq;
	if (Object.hasOwn(on, e.type)) on[e.type](s, e, e.data);
	s.time = e.time;
	return true;
}

/* -- The log: exact bytes, and the state at any event */

const HEAD = /^\{"run":"([^"]*)","seq":(\d+),(?:"n":(\d+),)?"time":([\d.]+),"type":"(\w+)"/;

export class Log {
	constructor() {
		this.raw = [];
		this.types = [];
		this.times = [];
		this.state = begin();
		this.snaps = [copyState(this.state)];
	}

	/* A line of bytes as it came. False: a repeat, or not the next one. */
	add(raw) {
		const m = HEAD.exec(raw);
		if (m && m[3] === undefined && +m[2] <= this.state.seq) return false;
		const e = JSON.parse(raw);
		if (!fold(this.state, e)) return false;
		this.raw.push(raw);
		this.types.push(e.type);
		this.times.push(e.time);
		if (e.seq % SNAP === 0) this.snaps[e.seq / SNAP] = copyState(this.state);
		return true;
	}

	event(seq) { return JSON.parse(this.raw[seq - 1]); }

	/* The state after event `seq`. */
	at(seq) {
		if (seq >= this.state.seq) return this.state;
		const k = Math.floor(seq / SNAP), s = copyState(this.snaps[k]);
		for (let i = k * SNAP; i < seq; i++) fold(s, JSON.parse(this.raw[i]));
		return s;
	}

	/* Where a stream has to begin so that no text of what is open is missing. */
	from() {
		let seq = this.state.seq;
		for (const i of this.state.open.values()) {
			const p = this.state.spans[i];
			if (p.kind === 'model' || p.kind === 'call' || p.kind === 'action')
				seq = Math.min(seq, p.seq);
		}
		return seq;
	}
}

/* Calls whose effect a fork after `seq` may repeat. */
export function again(state, seq) {
	let calls = 0, unsafe = 0, open = null;
	for (const p of state.spans) {
		if (p.kind !== 'call' && p.kind !== 'action') continue;
		if (p.seq <= seq && (!p.end || p.end > seq)) open = p;
		if ((p.start ?? p.seq) <= seq || p.run0 === null) continue;
		calls++;
		if (p.class === 'unsafe') unsafe++;
	}
	return {calls, unsafe, open};
}

/* The text of the member `key` of data, byte for byte: what a hash is made of. */
export function slice(raw, key) {
	let depth = 0;
	for (let i = 0; i < raw.length; i++) {
		const c = raw[i];
		if (c === '"') {
			const from = i + 1;
			for (i++; raw[i] !== '"'; i++) if (raw[i] === '\\') i++;
			if (depth === 2 && raw[i + 1] === ':' && raw.slice(from, i) === key)
				return value(raw, i + 2);
		} else if (c === '{' || c === '[') depth++;
		else if (c === '}' || c === ']') depth--;
	}
	return null;
}

/* The end of a JSON text that begins at `i` of `raw`. */
function value(raw, i) {
	const from = i;
	for (let depth = 0; i < raw.length; i++) {
		const c = raw[i];
		if (c === '"') {
			for (i++; raw[i] !== '"'; i++) if (raw[i] === '\\') i++;
			if (!depth) { i++; break; }
		} else if (c === '{' || c === '[') depth++;
		else if (c === '}' || c === ']') {
			if (depth === 0) break;
			if (--depth === 0) { i++; break; }
		} else if (c === ',' && depth === 0) break;
	}
	return raw.slice(from, i);
}

/* {"events":[E,...],"next":N}: each event as it was written. */
export function pageLines(text) {
	const lines = [];
	let i = text.indexOf('[') + 1;
	while (i > 0 && i < text.length && text[i] !== ']') {
		if (text[i] !== '{') { i++; continue; }
		const one = value(text, i);
		lines.push(one);
		i += one.length;
	}
	const next = /"next":(\d+)/.exec(text.slice(i));
	return {lines, next: next ? +next[1] : null};
}
