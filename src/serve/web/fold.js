/* fold.js - events of a run, folded to what the page shows. Pure: no clock, no
 * document.
 *
 * Objects in a state are never changed, only replaced: a snapshot copies the
 * lists and shares what is in them. Keys that come from outside live in Maps. */

const SNAP = 256; /* kept events between snapshots */
const LIVE_MAX = 65536; /* characters of output that still comes */

export const begin = () => ({seq: 0, time: 0, t0: 0, delta: [0, 0], run: null, status: 'running', outcome: null, error: null,
	limit: null, text: '', metrics: null, by: null, fork: null, turn: -1, plan: -1, model: -1, paused: false,
	spans: [], items: [], marks: [], gaps: [],
	open: new Map(), /* key of what is open -> index of its span */
	asks: new Map(), /* key -> index of the span that waits */
	deps: new Map(), /* action -> what plan_start says about it */
});

export function copyState(s) {
	const c = {...s, open: new Map(s.open), asks: new Map(s.asks), deps: new Map(s.deps)};
	for (const k of ['delta', 'spans', 'items', 'marks', 'gaps']) c[k] = s[k].slice();
	return c;
}

/* -- Spans */

function set(s, i, change) {
	if (i != null) s.spans[i] = {...s.spans[i], ...change};
}

/* A span that is open under `key`. */
function open(s, e, key, span) {
	const i = s.spans.length;
	s.spans.push({i, seq: e.seq, end: 0, t0: e.time, t1: null, state: 'running', turn: e.turn ?? -1, item: -1, parent: -1, ...span});
	s.open.set(key, i);
	return i;
}

function item(s, e, it) {
	const i = s.items.length;
	s.items.push({i, seq: e.seq, ...it});
	if (it.span >= 0) set(s, it.span, {item: i});
}

const note = (s, e, text, level = 'info', more) => item(s, e, {kind: 'note', text, level, ...more});
const tick = (s, e, kind) => s.marks.push({seq: e.seq, kind});

function close(s, e, key, change) {
	const i = s.open.get(key);
	s.open.delete(key);
	set(s, i, {end: e.seq, t1: e.time, ...change});
}

const callKey = (e, id) => `c/${e.turn ?? -1}/${id}`;
const askKey = (e, d) => d.call !== undefined ? callKey(e, d.call) : 'a/' + d.action;
const modelKey = d => `m/${d.action ?? ''}/${d.branch ?? ''}`;

function status(s) {
	s.status = s.outcome ?? (s.asks.size ? 'waiting' : s.paused ? 'paused' : 'running');
}

/* Attempts: the last one ends, another one may follow after a delay. */
const piece = t0 => ({t0, t1: null, state: 'running'});
const cut = (list, e, state, more) => list.map(p => p.t1 === null ?
	{...p, t0: Math.min(p.t0, e.time), t1: e.time, state, ...more} : p);

function retry(s, e, i, reason, more) {
	if (i == null) return;
	set(s, i, {attempt: e.data.attempt + 1, pieces: [...cut(s.spans[i].pieces, e, 'failed', {reason}),
		piece(e.time + e.data.delay_ms / 1000)], ...more});
	tick(s, e, 'retry');
}

/* The span of a call or an action, made when it is first heard of. */
function worker(s, e, d) {
	const key = askKey(e, d), call = d.call !== undefined, info = call ? null : s.deps.get(d.action);
	let i = s.open.get(key);
	if (i !== undefined) return i;
	i = open(s, e, key, {kind: call ? 'call' : 'action', key: d.call ?? d.action, name: d.name ?? info?.name ?? '',
		parent: !call ? s.plan : s.spans[s.model]?.turn === (e.turn ?? -1) ? s.model : s.turn, pieces: [], run0: null,
		args: d.args ?? d.params ?? null, ask: null, child: null, wave: info?.wave, deps: info?.depends_on, live: ''});
	item(s, e, {kind: s.spans[i].kind, span: i});
	return i;
}

function started(s, e, d) {
	const i = worker(s, e, d), {key, run0, pieces} = s.spans[i];
	set(s, i, {...d, key, idem: d.key, state: 'running', run0: run0 ?? e.time, start: e.seq, args: d.args ?? d.params,
		pieces: [...pieces, piece(e.time)]});
}

function ended(s, e, d) {
	const i = worker(s, e, d), key = askKey(e, d), state = d.outcome;
	s.asks.delete(key);
	close(s, e, key, {...d, state, live: '', by: state === 'canceled' ? s.by : null, pieces: cut(s.spans[i].pieces, e, state)});
	if (state !== 'ok' && state !== 'skipped') tick(s, e, 'bad');
	status(s);
}

/* -- Deltas */

function delta(s, e, field) {
	const [seq, n] = s.delta, d = e.data;
	if (e.seq < seq || e.seq === seq && e.n <= n) return; /* a repeat */
	s.delta = [e.seq, e.n];
	const i = s.open.get(field === 'live' ? askKey(e, d) : modelKey(d)), was = s.spans[i];
	/* What model_part says already is not said again. */
	if (!was || e.seq < was.sealed) return;
	if (field === 'live') set(s, i, {live: (was.live + d.text).slice(-LIVE_MAX)});
	else set(s, i, {first: was.first ?? e.time, [field]: field === 'writing' ? was.writing + d.text.length : was[field] + d.text});
}

/* -- The events */

const CONTROLS = {__proto__: null, cancel: 'canceled', pause: 'paused', continue: 'continued', limits: 'limits changed',
	compact: 'asked to shorten the conversation'};

const on = {__proto__: null,
	run_start(s, e, d) {
		const {prompt, agent, model, user, session, cwd, limits, labels = {}, plan, follows, config} = d;
		s.t0 = e.time;
		s.run = {id: e.run, prompt, agent, model, user, session, cwd, limits, labels, plan, follows, parent: d.parent_run,
			tools: config?.tools?.length};
		if (d.messages) item(s, e, {kind: 'past', messages: d.messages, follows});
		item(s, e, {kind: 'user', text: prompt, parts: d.parts});
	},
	run_fork(s, e, d) {
		s.fork = {parent: d.parent, at: d.at};
		s.run = {...s.run, id: e.run, model: d.model ?? s.run?.model, limits: d.limits ?? s.run?.limits};
		s.outcome = null;
		s.gaps.push({t0: s.time, t1: e.time, why: 'forked'});
		tick(s, e, 'fork');
		note(s, e, `forked after event ${d.at}`, 'info', {run: d.parent});
		status(s);
	},
	run_resume(s, e, d) {
		const why = `resumed (epoch ${d.epoch})`;
		s.gaps.push({t0: s.time, t1: e.time, why});
		note(s, e, why);
		s.outcome = null;
		status(s);
	},
	run_end(s, e, {outcome, text, error = null, limit = null, metrics}) {
		const last = s.spans.at(-1), told = error && last?.kind === 'model' && last.error?.message === error.message;
		Object.assign(s, {outcome, text, error, limit, metrics});
		s.asks.clear();
		status(s);
		item(s, e, {kind: 'end', outcome, error, told, limit, by: s.by, text: s.run?.plan ? text : ''});
	},
	turn_start(s, e, d) {
		s.turn = open(s, e, 't', {kind: 'turn', key: d.id, name: 'turn ' + d.counter, failed: 0});
		tick(s, e, 'turn');
	},
	turn_end: (s, e, d) => close(s, e, 't', {state: d.outcome, failed: d.failed_calls}),
	context_start: (s, e, d) => open(s, e, 'x', {kind: 'context', name: 'context', parent: s.turn, budget: d.budget_tokens}),
	context_end: (s, e, d) => close(s, e, 'x', {state: 'ok', tokens: d.tokens, parts: d.parts, broke: d.prefix_changed}),
	retrieval_start: (s, e, d) => open(s, e, 'r', {kind: 'retrieval', name: d.source, parent: s.turn, query: d.query, output: []}),
	retrieval_hit(s, e, d) {
		const i = s.open.get('r');
		set(s, i, {output: [...s.spans[i]?.output ?? [], d]});
	},
	retrieval_end: (s, e, d) => close(s, e, 'r', {state: d.error ? 'failed' : 'ok', error: d.error}),
	compacted: (s, e, d) => note(s, e, `conversation shortened (${d.method}): ${d.messages_before} to ${d.messages_after} messages, ` +
		`${d.tokens_before} to ${d.tokens_after} tokens`, 'info', {detail: d.summary}),
	model_start(s, e, d) {
		const a = d.action === undefined ? undefined : s.open.get('a/' + d.action);
		const i = open(s, e, modelKey(d), {kind: 'model', name: d.model, purpose: d.purpose, parent: a ?? s.turn, first: null, text: '',
			thinking: '', writing: 0, sealed: 0, attempt: d.attempt, messages: d.messages, pieces: [piece(e.time)]});
		if (a === undefined) s.model = i;
		if (d.purpose === 'answer' || d.purpose === 'plan') item(s, e, {kind: 'model', span: i});
	},
	model_part: (s, e, d) => set(s, s.open.get(modelKey(d)), {text: d.text, thinking: d.thinking ?? '', sealed: e.seq}),
	model_retry: (s, e, d) => retry(s, e, s.open.get(modelKey(d)), d.reason, d.next_model && {name: d.next_model}),
	model_end(s, e, d) {
		const was = s.spans[s.open.get(modelKey(d))], state = d.outcome;
		if (!was) return;
		close(s, e, modelKey(d), {...d, state, thinking: d.thinking ?? '', by: state === 'canceled' ? s.by : null,
			first: was.first ?? (d.first_token_ms ? Math.min(e.time, was.t0 + d.first_token_ms / 1000) : null),
			pieces: cut(was.pieces, e, state)});
		if (state === 'failed') tick(s, e, 'bad');
	},
	approval_ask(s, e, d) {
		const i = worker(s, e, d), {risk, layers, reason, rule} = d;
		set(s, i, {state: 'waiting', args: d.args, ask: {seq: e.seq, t0: e.time, t1: null, risk, layers, reason, rule}});
		s.asks.set(askKey(e, d), i);
		tick(s, e, 'ask');
		status(s);
	},
	approval_answer(s, e, d) {
		const key = askKey(e, d), i = s.asks.get(key), {yes, by, remember} = d;
		s.asks.delete(key);
		set(s, i, {state: yes ? 'running' : 'denied', rule: yes ? null : by, ask: {...s.spans[i]?.ask, t1: e.time, yes, by, remember}});
		status(s);
	},
	call_start: started,
	call_end: ended,
	plan_start(s, e, d) {
		for (const a of d.actions) s.deps.set(a.id, a);
		s.plan = open(s, e, 'p', {kind: 'plan', key: d.plan, name: d.name, waves: d.waves, actions: d.actions.length,
			parent: d.call === undefined ? -1 : s.open.get(callKey(e, d.call)) ?? s.turn});
	},
	plan_action(s, e, {action: a}) {
		if (a?.id !== undefined) s.deps.set(a.id, {depends_on: [], wave: 0, ...a});
	},
	action_start: started,
	action_retry: (s, e, d) => retry(s, e, s.open.get('a/' + d.action), d.error?.code),
	action_end: ended,
	plan_end: (s, e, d) => close(s, e, 'p', {state: d.outcome}),
	branch_start: (s, e, d) => open(s, e, 'b/' + d.branch, {kind: 'branch', name: d.label || d.branch, parent: s.turn}),
	branch_end: (s, e, d) => close(s, e, 'b/' + d.branch, {state: d.outcome, text: d.text}),
	child_start(s, e, d) {
		if (d.call ?? d.action) set(s, s.open.get(askKey(e, d)), {child: d.run, agent: d.agent});
	},
	message(s, e, d) {
		if (d.by === 'wend') note(s, e, d.text);
		else item(s, e, {kind: 'user', said: true, text: d.text, parts: d.parts, pinned: d.pinned});
	},
	control(s, e, d) {
		if (d.what === 'pause' || d.what === 'continue') s.paused = d.what === 'pause';
		if (d.what === 'cancel') s.by = d.by;
		status(s);
		note(s, e, `${CONTROLS[d.what] ?? d.what} by ${d.by}`);
	},
	metrics(s, e, d) { s.metrics = d; },
	warning: (s, e, d) => note(s, e, d.message, 'warn', {code: d.code}),
	error(s, e, d) {
		note(s, e, d.message, 'error', {code: d.code});
		tick(s, e, 'bad');
	},
};

const DELTAS = {__proto__: null, text_delta: 'text', thinking_delta: 'thinking', args_delta: 'writing', call_output: 'live', action_output: 'live'};

/* One event into a state. True if it was new. */
export function fold(s, e) {
	if (e.n !== undefined) {
		if (DELTAS[e.type]) delta(s, e, DELTAS[e.type]);
		return false;
	}
	if (e.seq !== s.seq + 1) return false;
	s.seq = e.seq;
	on[e.type]?.(s, e, e.data);
	s.time = e.time;
	return true;
}

/* -- The log: exact bytes, and the state at any event */

const KEPT = /^\{"run":"[^"]*","seq":(\d+),"time"/;

export class Log {
	constructor() {
		Object.assign(this, {raw: [], types: [], state: begin(), snaps: [begin()]});
	}

	/* A line of bytes as it came. False: a repeat, or not the next one. */
	add(raw) {
		if (KEPT.exec(raw)?.[1] <= this.state.seq) return false;
		const e = JSON.parse(raw);
		if (!fold(this.state, e)) return false;
		this.raw.push(raw);
		this.types.push(e.type);
		if (e.seq % SNAP === 0) this.snaps[e.seq / SNAP] = copyState(this.state);
		return true;
	}

	event(seq) { return JSON.parse(this.raw[seq - 1]); }

	at(seq) {
		if (seq >= this.state.seq) return this.state;
		const k = Math.floor(seq / SNAP), s = copyState(this.snaps[k]);
		for (let i = k * SNAP; i < seq; i++) fold(s, JSON.parse(this.raw[i]));
		return s;
	}

	/* Where a stream has to begin so that no text of what is open is missing. */
	from() {
		const {seq, spans, open} = this.state, live = [...open.values()].map(i => spans[i]).filter(p => p.pieces);
		return Math.min(seq, ...live.map(p => p.seq));
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

/* The end of the string that begins at `i`: a quote after an even number of
 * backslashes. */
function quote(raw, i) {
	for (let n = 1; n & 1;) {
		i = raw.indexOf('"', i + 1);
		if (i < 0) return raw.length;
		for (n = 0; raw[i - 1 - n] === '\\';) n++;
	}
	return i;
}

/* The JSON text that begins at `from`. */
function value(raw, from) {
	let i = from;
	for (let depth = 0; i < raw.length; i++) {
		const c = raw[i];
		if (c === '"') i = quote(raw, i);
		else if (c === '{' || c === '[') depth++;
		else if ((c === '}' || c === ']') && depth-- === 0 || c === ',' && depth === 0) break;
	}
	return raw.slice(from, i);
}

/* The text of the member `key` of data, byte for byte: what a hash is made of. */
export function slice(raw, key) {
	for (let i = 0, depth = 0; i < raw.length; i++) {
		const c = raw[i], from = i + 1;
		if (c === '"') {
			i = quote(raw, i);
			if (depth === 2 && raw[i + 1] === ':' && raw.slice(from, i) === key) return value(raw, i + 2);
		} else if (c === '{' || c === '[') depth++;
		else if (c === '}' || c === ']') depth--;
	}
	return null;
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
