/* text.js - everything that becomes text or an element passes through here.
 *
 * The page shows strings of models, tools and users. None of them becomes
 * markup: elements are made by name, text is set as text. What cannot be seen
 * (control characters, bidi controls, zero-width ones) is made visible. */

const CAP = 8192; /* characters of one text node: longer lines lay out slowly */
const CHIPS = 5000; /* hidden characters that are shown one by one */

/* Never seen, or reorders what is seen. ZWJ, ZWNJ and variation selectors are
 * parts of words and emoji: only where a person decides (strict) they are shown. */
const HIDDEN = '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f' +
	'\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]';
const LOOSE = new RegExp(HIDDEN, 'gu'), STRICT = new RegExp('[\\u200c\\u200d\\u3164\\ufe00-\\ufe0f]|' + HIDDEN, 'gu');
const ANSI = new RegExp('\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[ -/]*[0-~])', 'g');

const code = c => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
const string = (v, indent) => typeof v === 'string' ? v : v == null ? '' : JSON.stringify(v, null, indent) ?? '';

/* For attributes, titles and the canvas, where no element can stand. */
export function plain(value, cap = 200) {
	const s = string(value);
	return s.slice(0, cap).replace(LOOSE, c => `\u27e8${code(c)}\u27e9`) + (s.length > cap ? '\u2026' : '');
}

export const oneLine = (s, cap = 200) => plain(String(s ?? '').slice(0, cap * 4).replace(/\s+/g, ' ').trim(), cap);
export const noAnsi = s => s.replace(ANSI, '');
export const runHref = id => '/r/' + encodeURIComponent(id);

/* -- Elements */

/* The only way to make one: el('p.class.class', {attributes, on: {event: f}}, kids). */
export function el(name, props, ...kids) {
	const [tag, ...classes] = name.split('.'), e = document.createElement(tag);
	if (props?.nodeType || typeof props !== 'object') {
		kids.unshift(props);
		props = null;
	}
	if (props?.class) classes.push(props.class);
	if (classes.length) e.className = classes.join(' ');
	for (const key in props) {
		const v = props[key];
		if (v == null || v === false || key === 'class') continue;
		if (key === 'on') for (const k in v) on(e, k, v[k]);
		else if (/^(style|srcdoc|on.*)$/.test(key)) throw new Error('el: ' + key);
		else e.setAttribute(key, v === true ? '' : v);
	}
	e.append(...kids.filter(k => k != null && k !== false));
	return e;
}

export function svg(name, props, ...kids) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', name);
	for (const key in props) e.setAttribute(key, props[key]);
	e.append(...kids);
	return e;
}

export const on = (e, type, f, o) => e.addEventListener(type, f, o);
export const css = (e, name, value) => e.style.setProperty(name, value);
export const button = (text, click, props) => el('button', {type: 'button', ...props, on: {click}}, text);

/* Calls f once in the next frame, however often it is asked to. */
export function frames(f) {
	let id = 0;
	return () => { id ||= requestAnimationFrame(() => { id = 0; f(); }); };
}

/* A dialog that is gone when it is closed. */
export function sheet(label, ...kids) {
	const d = el('dialog', {'aria-label': label, on: {close: () => d.remove()}}, el('h2', label), ...kids);
	document.body.append(d);
	d.showModal();
	return d;
}

/* Puts a foreign string into `to`: hidden characters as chips, long lines in
 * slices. Returns how many characters were hidden. */
export function put(to, value, {cap = Infinity, strict} = {}) {
	const all = string(value, 2), s = all.slice(0, cap), text = t => {
		for (let i = 0; i < t.length; i += CAP) to.append(t.slice(i, i + CAP));
	};
	let hidden = 0, at = 0;
	for (const m of s.matchAll(strict ? STRICT : LOOSE)) {
		if (hidden++ > CHIPS) continue;
		text(s.slice(at, m.index));
		to.append(el('span.chip', code(m[0])));
		at = m.index + m[0].length;
	}
	text(hidden > CHIPS ? plain(s.slice(at), Infinity) : s.slice(at));
	if (all.length > cap) to.append(el('span.more', `\u2026 ${count(all.length - cap)} more`));
	return hidden;
}

export const filled = (e, value, options) => {
	put(e, value, options);
	return e;
};

/* A foreign string as an element of its own, isolated from its neighbours. */
export const foreign = value => filled(el('bdi'), value, {cap: 2000});

/* -- Numbers */

const two = (n, w = 2) => String(Math.floor(n)).padStart(w, '0');

export function ms(n) {
	if (n == null || Number.isNaN(n)) return '';
	const s = n / 1000, t = Math.round(s);
	return n < 1 ? '<1 ms' : n < 999.5 ? Math.round(n) + ' ms' : s < 59.95 ? s.toFixed(1) + ' s' :
		t < 3600 ? `${t / 60 | 0} m ${two(t % 60)} s` : t < 86400 ? `${t / 3600 | 0} h ${two(t % 3600 / 60)} m` :
			`${t / 86400 | 0} d ${two(t % 86400 / 3600)} h`;
}

export const count = n => n == null ? '' : n < 1000 ? String(n) : n < 99950 ? (n / 1000).toFixed(1) + 'k' :
	n < 999500 ? Math.round(n / 1000) + 'k' : (n / 1e6).toFixed(1) + 'M';

export const cost = usd => usd == null ? 'cost unknown' : usd === 0 ? 'no cost' : usd < 0.00005 ? '<$0.0001' :
	'$' + usd.toFixed(usd < 0.1 ? 4 : 2);

export const bytes = n => n < 1000 ? n + ' B' : n < 1e6 ? (n / 1e3).toFixed(1) + ' kB' : (n / 1e6).toFixed(1) + ' MB';

export function keep(key, value) {
	try {
		if (value == null) return localStorage.getItem('wend.' + key);
		localStorage.setItem('wend.' + key, value);
	} catch { /* none is kept */ }
	return value;
}

/* -- Time of day: one switch for the axis, tips and tables */

export const clock = {mode: keep('clock') ?? 'local'};

/* `start`: seconds, for "since start". */
export function when(seconds, start, fine) {
	if (clock.mode === 'since start' && start) return '+' + ms(Math.max(0, (seconds - start) * 1000));
	const utc = clock.mode === 'UTC', d = new Date(seconds * 1000), part = name => d[(utc ? 'getUTC' : 'get') + name]();
	return ['Hours', 'Minutes', 'Seconds'].map(p => two(part(p))).join(':') + (fine ? '.' + two(part('Milliseconds'), 3) : '') +
		(utc ? ' UTC' : '');
}

export const iso = seconds => new Date(seconds * 1000).toISOString();

export function age(seconds) {
	const s = Math.max(0, Date.now() / 1000 - seconds), [n, unit] = s < 60 ? [1, 's'] : s < 3600 ? [60, 'm'] :
		s < 86400 ? [3600, 'h'] : [86400, 'd'];
	return `${s / n | 0} ${unit}`;
}

/* -- States: a mark, a word, a colour */

const RING = 'M10.5 6a4.5 4.5 0 1 1-9 0a4.5 4.5 0 1 1 9 0';
export const MARKS = {__proto__: null,
	running: RING,
	queued: 'M2.5 6h.1M6 6h.1M9.5 6h.1',
	waiting: 'M4 2.5v7M8 2.5v7',
	paused: 'M3 3h6v6h-6z',
	interrupted: 'M6 1.5a4.5 4.5 0 0 0 0 9M8.5 9.7a4.5 4.5 0 0 0 1.9-3',
	ok: 'M2 6.4l2.7 2.8L10 3.2',
	failed: 'M2.8 2.8l6.4 6.4M9.2 2.8l-6.4 6.4',
	timeout: RING + 'M6 3.4v2.8l1.9 1.2',
	denied: RING + 'M3.6 6h4.8',
	canceled: 'M3 10.2L9 1.8',
	skipped: 'M6 1.2L10.8 6L6 10.8L1.2 6z',
	unknown: 'M6 1.2L11 10.2H1zM6 4.4v2.8M6 8.6v.2',
	cached: 'M1.5 4.5h6v6h-6zM4.5 4.5v-3h6v6h-3',
	superseded: 'M3 3h6v6h-6zM1 6h10',
	limit: 'M1.5 9a4.5 4.5 0 0 1 9 0M6 9l2.4-3.4',
};
export const BAD = new Set(['failed', 'timeout', 'denied', 'unknown', 'interrupted']);
const WORDS = {__proto__: null, waiting: 'waits for you', unknown: 'outcome not known', cached: 'from cache', timeout: 'timed out'};
const known = state => MARKS[state] ? state : 'unknown';

export const mark = state => svg('svg', {class: 'mark s-' + known(state), viewBox: '0 0 12 12', 'aria-hidden': 'true'},
	svg('path', {d: MARKS[known(state)]}));

export const look = p => p.cached && p.state === 'ok' ? 'cached' : p.state;
export const label = p => oneLine(p.kind === 'model' && p.purpose !== 'answer' ? `${p.name}, ${p.purpose}` :
	p.name, 120) || p.kind;

export function stateWord(s, now) {
	const state = look(s), rule = s.rule ?? s.policy?.rule, why = s.error?.code;
	const more = {__proto__: null, failed: why && why !== 'failed' && ': ' + why, denied: rule && ' by ' + rule,
		canceled: s.by && ' by ' + s.by, skipped: s.reason && ': ' + s.reason, limit: s.limit && ': ' + s.limit,
		running: now && s.t0 && ' ' + ms((now - s.t0) * 1000)}[state];
	return (WORDS[state] ?? plain(state, 40)) + (more ? plain(more, 44) : '');
}

export const badge = (state, word) => el('span.badge.s-' + known(state), mark(state), el('span.word', word ?? stateWord({state})));

export async function copy(text, from) {
	await navigator.clipboard.writeText(text).then(() => say('copied'), () => say('the browser did not allow copying'));
	from?.focus();
}

/* The region that is read aloud. */
export function say(text) {
	document.getElementById('status').textContent = plain(text, 240);
}
