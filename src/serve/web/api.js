/* api.js - talking to the server: requests, streams, the feed of all runs.
 *
 * Streams are fetch streams, not EventSource, which sends no headers. A tab
 * has one stream; it is given up while the tab is hidden. The feed of runs is
 * held by one tab for all (Web Locks), since a browser opens few connections
 * to one host. */
import {on} from './text.js';
import {Log, pageLines} from './fold.js';


const HIDDEN_MS = 5000;
const WAIT_MIN = 500, WAIT_MAX = 15000;
const LOST_MS = 2000;
const QUIET_MS = 45000; /* three missed comments: the connection is dead */

let token = null;
const channel = new BroadcastChannel('wend');
const asked = new Set();
export const bus = new EventTarget();
const emit = (type, detail) => bus.dispatchEvent(new CustomEvent(type, {detail}));

/* -- The token */

export function setToken(t) {
	token = t;
	try { sessionStorage.setItem('wend.token', t ?? ''); } catch { /* this page only */ }
}

/* From the fragment, this tab, or a sibling tab; null: the user must paste it. */
export async function findToken() {
	let t = /^#(?:token=|t=)?([\w.~+/=-]{8,512})$/.exec(location.hash)?.[1];
	if (t) history.replaceState(null, '', location.pathname + location.search);
	try { t ||= sessionStorage.getItem('wend.token'); } catch { /* none kept */ }
	t ||= await new Promise(done => {
		asked.add(done);
		channel.postMessage({ask: 'token'});
		setTimeout(done, 250);
	});
	asked.clear();
	if (t) setToken(t);
	return t;
}

/* -- Requests */

export class Problem extends Error {
	constructor(status, body) {
		super(body.detail || body.title || 'status ' + status);
		Object.assign(this, {status, body, code: body.code});
	}
}

export async function ask(path, {method, body, headers, text, signal, raw} = {}) {
	const res = await fetch(path, {method, signal, cache: 'no-store', headers: {Authorization: 'Bearer ' + token,
		Accept: 'application/json', ...(body ? {'Content-Type': 'application/json'} : {}), ...headers},
	body: body && JSON.stringify(body)}).catch(e => {
		throw e.name === 'AbortError' ? e : new Problem(0, {detail: 'no contact with the server'});
	});
	if (res.status === 401) emit('unauthorized');
	if (!res.ok) throw new Problem(res.status, await res.json().catch(() => null) ?? {});
	return raw ? res : text ? res.text() : res.json();
}

export const post = (path, body = {}, headers) => ask(path, {method: 'POST', body, headers});

export const run = (id, rest = '') => '/v1/runs/' + encodeURIComponent(id) + rest;

export async function load(id) {
	const log = new Log();
	for (let from = 1; from;) {
		const {lines, next} = pageLines(await ask(run(id, `/events?format=json&from=${from}&limit=2000`), {text: true}));
		for (const l of lines) log.add(l);
		from = next;
	}
	return log;
}

/* -- Server-sent events over fetch */

/* Calls frame(event, data) for each; returns when the stream ends. */
async function read(body, frame, alive) {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	for (let rest = '', got; !(got = await reader.read()).done;) {
		alive();
		const list = (rest + got.value).split('\n\n');
		rest = list.pop();
		for (const f of list) {
			const field = name => f.split('\n').filter(l => l.startsWith(name)).map(l => l.slice(name.length).trimStart()).join('\n');
			if (field('data:')) frame(field('event:'), field('data:'));
		}
	}
}

/* A stream that comes back by itself. `path()` and `last()` are asked at each
 * connection. Ends for good with 204, with `over()`, or with close(). */
export function stream({path, last, frame, over, state}) {
	let stopped, control, timer, tries = 0, lostTimer, quiet, hidden;
	const found = what => {
		clearTimeout(lostTimer);
		lostTimer = null;
		state(what);
	};
	const close = () => {
		clearTimeout(timer);
		clearTimeout(quiet);
		control?.abort();
		control = null;
	};
	const stop = why => {
		stopped = true;
		close();
		found(why);
	};
	const later = ms => {
		const at = Date.now();
		lostTimer ||= setTimeout(() => state('lost', at), LOST_MS);
		timer = setTimeout(connect, ms ?? Math.min(WAIT_MAX, WAIT_MIN * 2 ** tries++) * (0.5 + Math.random() / 2));
	};
	async function connect() {
		if (stopped || document.hidden) return;
		const mine = control = new AbortController(), alive = () => {
			clearTimeout(quiet);
			quiet = setTimeout(() => mine.abort(), QUIET_MS);
		};
		let wait;
		try {
			alive();
			const id = last?.(), res = await ask(path(), {signal: mine.signal, raw: true, headers: {Accept: 'text/event-stream',
				...(id ? {'Last-Event-ID': id} : {})}});
			if (res.status === 204) return stop('over');
			found('live');
			await read(res.body, (event, data) => {
				if (event === 'bye') wait = JSON.parse(data).retry_ms ?? 1000;
				else if (event === 'gone') { emit('unauthorized'); stop('gone'); }
				else { tries = 0; frame(event, data); }
			}, alive);
			if (stopped || await over?.()) return stop('over');
		} catch (e) {
			if (stopped || (mine !== control && document.hidden)) return;
			if ([401, 403, 404].includes(e.status)) return stop('gone');
		}
		if (mine === control) later(wait);
	}
	const visible = () => {
		clearTimeout(hidden);
		if (document.hidden) hidden = setTimeout(close, HIDDEN_MS);
		else if (!control && !stopped) { tries = 0; connect(); }
	};
	on(document, 'visibilitychange', visible);
	connect();
	return {
		close() {
			document.removeEventListener('visibilitychange', visible);
			stopped = true;
			clearTimeout(lostTimer);
			close();
		},
	};
}

/* -- The feed of runs */

let feed = null;

channel.onmessage = ({data}) => {
	if (data.ask === 'token' && token) channel.postMessage({token});
	else if (data.token) for (const done of asked) done(data.token);
	else if (data.row) emit('run', data.row);
	else if (data.feed) emit('feed', data.feed);
};

/* The tab with the lock reads the feed for all. One that was hidden for a while
 * hands it to a tab that is seen. */
export function startFeed() {
	if (feed) return;
	feed = true;
	const later = () => on(document, 'visibilitychange', take, {once: true});
	const hold = () => document.hidden ? later() : new Promise(release => {
		const s = stream({
			path: () => '/v1/feed',
			frame(event, data) {
				if (event !== 'run') return;
				const row = JSON.parse(data);
				emit('run', row);
				channel.postMessage({row});
			},
			state(what, at) {
				emit('feed', {what, at});
				channel.postMessage({feed: {what, at}});
			},
		});
		let timer = 0;
		on(document, 'visibilitychange', function seen() {
			clearTimeout(timer);
			if (document.hidden) timer = setTimeout(() => {
				document.removeEventListener('visibilitychange', seen);
				s.close();
				release();
				later();
			}, HIDDEN_MS);
		});
	});
	const take = () => document.hidden ? later() : navigator.locks ? navigator.locks.request('wend.feed', hold) : hold();
	take();
}

export async function sha256(text) {
	const d = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
	return [...new Uint8Array(d)].map(b => b.toString(16).padStart(2, '0')).join('');
}

export const idempotency = () => ({'Idempotency-Key': crypto.randomUUID()});
