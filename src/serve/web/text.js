/* text.js - everything that becomes text or an element passes through here.
 *
 * The page shows strings of models, tools and users. None of them becomes
 * markup: elements are made by name, text is set as text. What cannot be seen
 * (control characters, bidi controls, zero-width ones) is made visible. */

const CAP = 8192; /* characters of one text node: longer lines lay out slowly */

/* Never seen, or reorders what is seen. ZWJ and ZWNJ are parts of words and
 * emoji: only where a person decides (strict) they are shown, too. */
const HIDDEN = new RegExp('[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f' +
	'\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f' +
	'\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]', 'u');
const HIDDEN_ALL = new RegExp(HIDDEN.source, 'gu');
const STRICT_ALL = new RegExp('[\\u200c\\u200d\\u3164\\ufe00-\\ufe0f]|' + HIDDEN.source, 'gu');
const ANSI = new RegExp('\\u001b(?:\\[[0-?]*[ -/]*[@-~]|' +
	'\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[ -/]*[0-~])', 'g');

const code = c => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

/* For attributes, titles and the canvas, where no element can stand. */
export function plain(value, cap = 200) {
	let s = typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value) ?? '';
	const cut = s.length > cap;
	if (cut) s = s.slice(0, cap);
	if (HIDDEN.test(s)) s = s.replace(HIDDEN_ALL, c => '\u27e8' + code(c) + '\u27e9');
	return cut ? s + '\u2026' : s;
}

export const oneLine = (s, cap = 200) =>
	plain(String(s ?? '').slice(0, cap * 4).replace(/\s+/g, ' ').trim(), cap);

export const noAnsi = s => s.includes('\u001b') ? s.replace(ANSI, '') : s;

/* The only way to make an element: el('p.class.class', {attributes}, kids). */
export function el(name, props, ...kids) {
	const [tag, ...classes] = name.split('.'), e = document.createElement(tag);
	if (classes.length) e.className = classes.join(' ');
	if (props?.nodeType || typeof props !== 'object') {
		kids.unshift(props);
		props = null;
	}
	for (const key in props) {
		const v = props[key];
		if (v == null || v === false) continue;
		if (key === 'class') e.className += (e.className ? ' ' : '') + v;
		else if (key === 'on') for (const k in v) e.addEventListener(k, v[k]);
		else if (key === 'style' || key.startsWith('on') || key === 'srcdoc')
			throw new Error('el: ' + key);
		else e.setAttribute(key, v === true ? '' : v);
	}
	e.append(...kids.filter(k => k != null && k !== false));
	return e;
}

export const on = (e, type, f, o) => e.addEventListener(type, f, o);

export const css = (e, name, value) => e.style.setProperty(name, value);

export const button = (text, click, props) => el('button', {type: 'button',
	...props, on: {click}}, text);

export function svg(name, props, ...kids) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', name);
	for (const key in props) e.setAttribute(key, props[key]);
	e.append(...kids);
	return e;
}

/* Puts a foreign string into `to`: hidden characters as chips, long lines in
 * slices. Returns how many characters were hidden. */
export function put(to, value, {cap = Infinity, strict = false} = {}) {
	let s = typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value, null, 2);
	let hidden = 0;
	const rest = s.length - cap;
	if (rest > 0) s = s.slice(0, cap);
	const text = t => {
		for (let i = 0; i < t.length; i += CAP) to.append(t.slice(i, i + CAP));
	};
	const all = strict ? STRICT_ALL : HIDDEN_ALL;
	let at = 0;
	all.lastIndex = 0;
	for (let m; hidden < 5000 && (m = all.exec(s)); hidden++) {
		text(s.slice(at, m.index));
		to.append(el('span.chip', code(m[0])));
		at = m.index + m[0].length;
	}
	text(s.slice(at));
	if (rest > 0) to.append(el('span.more', `\u2026 ${count(rest)} more`));
	return hidden;
}

/* A foreign string as an element of its own, isolated from its neighbours. */
export function foreign(value, props, cap = 2000) {
	const e = el('bdi', props);
	put(e, value, {cap});
	return e;
}

export const runHref = id => '/r/' + encodeURIComponent(id);

/* -- Numbers */

export function ms(n) {
	if (n == null || Number.isNaN(n)) return '';
	if (n < 1) return '<1 ms';
	if (n < 999.5) return Math.round(n) + ' ms';
	const s = n / 1000;
	if (s < 59.95) return s.toFixed(1) + ' s';
	const two = v => String(v).padStart(2, '0'), t = Math.round(s);
	if (t < 3600) return `${t / 60 | 0} m ${two(t % 60)} s`;
	if (t < 86400) return `${t / 3600 | 0} h ${two((t % 3600) / 60 | 0)} m`;
	return `${t / 86400 | 0} d ${two((t % 86400) / 3600 | 0)} h`;
}

export function count(n) {
	if (n == null) return '';
	if (n < 1000) return String(n);
	if (n < 99950) return (n / 1000).toFixed(1) + 'k';
	if (n < 999500) return Math.round(n / 1000) + 'k';
	return (n / 1e6).toFixed(1) + 'M';
}

export function cost(usd) {
	if (usd == null) return 'cost unknown';
	if (usd === 0) return 'no cost';
	if (usd < 0.00005) return '<$0.0001';
	return '$' + (usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2));
}

export function bytes(n) {
	if (n < 1000) return n + ' B';
	return n < 1e6 ? (n / 1e3).toFixed(1) + ' kB' : (n / 1e6).toFixed(1) + ' MB';
}

/* -- Time of day: one switch for the axis, tips and tables */

export const clock = {mode: localStorage_('clock') || 'local'};

function localStorage_(key) {
	try { return localStorage.getItem('wend.' + key); } catch { return null; }
}

export function keep(key, value) {
	if (value == null) return localStorage_(key);
	try { localStorage.setItem('wend.' + key, value); } catch { /* private */ }
	return value;
}

const two = (n, w = 2) => String(n).padStart(w, '0');

/* `start`: seconds, for "since start". */
export function when(seconds, start, fine) {
	if (clock.mode === 'since start' && start)
		return '+' + ms(Math.max(0, (seconds - start) * 1000));
	const d = new Date(seconds * 1000), u = clock.mode === 'UTC';
	const part = name => d[(u ? 'getUTC' : 'get') + name]();
	const t = `${two(part('Hours'))}:${two(part('Minutes'))}:${two(part('Seconds'))}` +
		(fine ? '.' + two(part('Milliseconds'), 3) : '');
	return u ? t + ' UTC' : t;
}

export const iso = seconds => new Date(seconds * 1000).toISOString();

export function age(seconds, now = Date.now() / 1000) {
	const s = Math.max(0, now - seconds);
	if (s < 60) return (s | 0) + ' s';
	if (s < 3600) return (s / 60 | 0) + ' m';
	if (s < 86400) return (s / 3600 | 0) + ' h';
	return (s / 86400 | 0) + ' d';
}

/* -- States: a mark, a word, a colour */

const RING = 'M10.5 6a4.5 4.5 0 1 1-9 0a4.5 4.5 0 1 1 9 0';
export const MARKS = {
	running: RING, queued: 'M2.5 6h.1M6 6h.1M9.5 6h.1', waiting: 'M4 2.5v7M8 2.5v7',
	paused: 'M3 3h6v6h-6z', interrupted: 'M6 1.5a4.5 4.5 0 0 0 0 9M8.5 9.7a4.5 4.5 0 0 0 1.9-3',
	ok: 'M2 6.4l2.7 2.8L10 3.2', failed: 'M2.8 2.8l6.4 6.4M9.2 2.8l-6.4 6.4',
	timeout: RING + 'M6 3.4v2.8l1.9 1.2', denied: RING + 'M3.6 6h4.8', canceled: 'M3 10.2L9 1.8',
	skipped: 'M6 1.2L10.8 6L6 10.8L1.2 6z', unknown: 'M6 1.2L11 10.2H1zM6 4.4v2.8M6 8.6v.2',
	cached: 'M1.5 4.5h6v6h-6zM4.5 4.5v-3h6v6h-3', superseded: 'M3 3h6v6h-6zM1 6h10',
	limit: 'M1.5 9a4.5 4.5 0 0 1 9 0M6 9l2.4-3.4', };
export const BAD = new Set(['failed', 'timeout', 'denied', 'unknown', 'interrupted']);

export function mark(state) {
	const p = svg('path', {d: MARKS[state] ? MARKS[state] : MARKS.unknown});
	return svg('svg', {class: 'mark s-' + (MARKS[state] ? state : 'unknown'),
		viewBox: '0 0 12 12', 'aria-hidden': 'true'}, p);
}

const WORDS = {waiting: 'waits for you', unknown: 'outcome not known',
	cached: 'from cache', timeout: 'timed out'};

/* The word of a span or a run. */
export function stateWord(s, now) {
	const state = look(s);
	if (state === 'running' && now && s.t0) return 'running ' + ms((now - s.t0) * 1000);
	if (state === 'failed' && s.error?.code && s.error.code !== 'failed')
		return 'failed: ' + plain(s.error.code, 40);
	if (state === 'denied') return s.rule || s.policy?.rule ?
		'denied by ' + plain(s.rule || s.policy.rule, 40) : 'denied';
	if (state === 'canceled' && s.by) return 'canceled by ' + plain(s.by, 40);
	if (state === 'skipped' && s.reason) return 'skipped: ' + plain(s.reason, 40);
	if (state === 'limit' && s.limit) return 'limit: ' + plain(s.limit, 40);
	return WORDS[state] || plain(state, 40);
}

/* How a span looks; what it is called. */
export const look = p => p.cached && p.state === 'ok' ? 'cached' : p.state;
export const label = p => oneLine(p.kind === 'model' && p.purpose !== 'answer' ? `${p.name}, ${p.purpose}` :
	p.name, 120) || p.kind;

/* Mark and word, side by side. */
export const badge = (state, word) => el('span', {class: 'badge s-' +
	(MARKS[state] ? state : 'unknown')}, mark(state), el('span.word', word ?? stateWord({state})));

/* Something in the browser's clipboard, and a word that it is. */
export async function copy(text, from) {
	try {
		await navigator.clipboard.writeText(text);
		say('copied');
	} catch {
		say('the browser did not allow copying');
	}
	from?.focus();
}

/* The one region that a screen reader listens to. */
export function say(text) {
	const e = document.getElementById('status');
	if (e) e.textContent = plain(text, 240);
}
