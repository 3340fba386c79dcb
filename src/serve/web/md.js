/* md.js - Markdown to elements, block by block.
 *
 * Text that still comes only changes its last block: blocks before it are
 * closed and never touched again. HTML and images are shown as text; links are
 * http, https or mailto, with their host beside them if the text is another. */
import {el, put, filled, plain} from './text.js';

const DEEP = 8; /* blocks within blocks */

/* -- Blocks: a pure split of the text */

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|$)/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DELIM = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

const starts = l => [FENCE, HEADING, RULE, QUOTE, ITEM].some(r => r.test(l));
const indent = l => l.length - l.trimStart().length;

/* [{type, to, ...}]: `to` is a place in the text, after `base`. */
export function blocks(text, base = 0) {
	const out = [], raw = text.split('\n'), lines = raw.map(l => l.replace(/\r$/, ''));
	const join = (a, b, f = l => l) => lines.slice(a, b).map(f).join('\n');
	let at = base;
	for (let i = 0, k; i < lines.length; i = k) {
		const l = lines[i], next = lines[k = i + 1];
		const more = f => { while (k < lines.length && f(lines[k])) k++; };
		let m;
		if (!l.trim()) { /* between blocks */ }
		else if ((m = FENCE.exec(l))) {
			const close = new RegExp(`^ {0,3}${m[1][0]}{${m[1].length},}[ \\t]*$`);
			more(x => !close.test(x));
			out.push({type: 'code', lang: m[2].trim(), text: join(i + 1, k), shut: k < lines.length});
			k = Math.min(lines.length, k + 1);
		} else if ((m = HEADING.exec(l))) out.push({type: 'heading', level: m[1].length, text: m[2] ?? ''});
		else if (RULE.test(l)) out.push({type: 'rule'});
		else if (QUOTE.test(l)) {
			more(x => x.trim() && (QUOTE.test(x) || !starts(x)));
			out.push({type: 'quote', text: join(i, k, x => QUOTE.exec(x)?.[1] ?? x)});
		} else if (ITEM.test(l)) k = list(lines, i, out);
		else if (l.includes('|') && DELIM.test(next) && cells(l).length === cells(next).length) {
			k++;
			more(x => x.includes('|'));
			out.push({type: 'table', rows: lines.slice(i, k).map(cells)});
		} else {
			more(x => x.trim() && !starts(x));
			out.push({type: 'text', text: join(i, k, x => x.trimStart())});
		}
		for (let n = i; n < k; n++) at += raw[n].length + 1;
		if (l.trim()) out.at(-1).to = Math.min(at, base + text.length);
	}
	return out;
}

/* A list: items with the lines that are indented below them. */
function list(lines, k, out) {
	const start = parseInt(ITEM.exec(lines[k])[2], 10), ordered = start >= 0, items = [];
	for (let m; (m = ITEM.exec(lines[k])) && /\d/.test(m[2]) === ordered;) {
		const inner = m[1].length + m[2].length + 1, body = [m[3] ?? ''];
		for (k++; k < lines.length; k++) {
			const l = lines[k], deep = indent(l);
			if (!l.trim()) {
				const next = lines.slice(k + 1).find(x => x.trim());
				if (next === undefined || indent(next) < inner && !ITEM.test(next)) break;
				if (indent(next) >= inner) body.push('');
			} else if (deep >= inner || deep >= 2 && !ITEM.test(l)) body.push(l.slice(Math.min(deep, inner)));
			else if (starts(l)) break;
			else body.push(l.trimStart());
		}
		items.push(body.join('\n').trimEnd());
	}
	out.push({type: 'list', ordered, items, start});
	return k;
}

/* `\|` is no end of a cell. */
const cells = line => line.trim().replace(/^\||(?<!\\)\|$/g, '').split(/(?<!\\)\|/).map(c => c.replaceAll('\\|', '|').trim());

/* -- Inside a line */

const INLINE = new RegExp([
	'\\\\([!-/:-@[-`{-~])', /* 1 escaped */
	'(`+)([^`]|[^`][^]*?[^`])\\2(?!`)', /* 2,3 code */
	'(!?)\\[([^\\[\\]]{0,500})\\]\\(([^()\\s]{1,2000})(?:\\s+"[^"]{0,200}")?\\)', /* 4-6 image, link */
	'(\\*\\*|__)(?=\\S)([^]{1,2000}?\\S)\\7', /* 7,8 strong */
	'(?<![\\w*])([*_])(?=[^\\s*_])([^]{0,2000}?[^\\s*_])\\9(?![\\w*])', /* 9,10 emphasis */
	'~~(?=\\S)([^]{1,2000}?\\S)~~', /* 11 deleted */
	'<?(https?://[^\\s<>"\'`)\\]]{1,2000}[^\\s<>"\'`)\\].,;:!?])>?', /* 12 address */
].join('|'), 'g');

function link(words, target, whole, depth) {
	const u = URL.canParse(target) ? new URL(target) : null;
	if (!['http:', 'https:', 'mailto:'].includes(u?.protocol)) return filled(el('span'), whole);
	const host = u.host || u.pathname, a = inline(el('a', {href: u.href, rel: 'noopener noreferrer nofollow', target: '_blank',
		title: plain(u.href, 500)}), words, depth);
	return words.includes(host) ? a : el('span', a, el('span.host', ` (${plain(host, 100)})`));
}

export function inline(to, text, depth = 0) {
	let at = 0;
	for (const m of depth > 4 ? [] : text.matchAll(INLINE)) {
		put(to, text.slice(at, m.index));
		at = m.index + m[0].length;
		const sub = (name, s) => to.append(inline(el(name), s, depth + 1));
		if (m[3]) to.append(filled(el('code'), m[3]));
		else if (m[6] && !m[4]) to.append(link(m[5], m[6], m[0], depth + 1));
		else if (m[8]) sub('strong', m[8]);
		else if (m[10]) sub('em', m[10]);
		else if (m[11]) sub('del', m[11]);
		else if (m[12]) to.append(link(m[12], m[12], m[0], 9));
		else put(to, m[1] ?? m[0]);
	}
	put(to, text.slice(at));
	return to;
}

/* -- Blocks to elements */

const inner = (e, text, depth) => {
	e.append(...blocks(text).map(b => block(b, depth + 1)));
	return e;
};

function tableOf([head, rule, ...rows]) {
	const row = (tag, r) => el('tr', ...rule.map((c, i) => inline(el(tag, {dir: 'auto',
		class: c.endsWith(':') && (c[0] === ':' ? 'mid' : 'num')}), r[i] ?? '')));
	return el('div.wide', el('table', el('thead', row('th', head)), el('tbody', ...rows.map(r => row('td', r)))));
}

const listOf = (b, depth) => el(b.ordered ? 'ol' : 'ul', {dir: 'auto', start: b.ordered && b.start}, ...b.items.map(text => {
	const task = /^\[([ xX])\]\s+/.exec(text), li = el('li', {dir: 'auto'}, task && (task[1] === ' ' ? '\u2610 ' : '\u2611 '));
	const body = task ? text.slice(task[0].length) : text, [first, ...rest] = depth < DEEP ? blocks(body) : [];
	if (first?.type === 'text' || !first) inline(li, first?.text ?? body);
	else rest.unshift(first);
	li.append(...rest.map(x => block(x, depth + 1)));
	return li;
}));

export function block(b, depth = 0) {
	switch (b.type) {
	case 'code': return el('pre.code', {tabindex: 0, dir: 'ltr'}, b.lang && el('span.lang', plain(b.lang, 30)), filled(el('code'), b.text));
	case 'heading': return inline(el('h' + Math.min(6, b.level + 1) + '.h.h' + b.level, {dir: 'auto'}), b.text);
	case 'rule': return el('hr');
	case 'table': return tableOf(b.rows);
	case 'list': return listOf(b, depth);
	case 'quote': return depth < DEEP ? inner(el('blockquote'), b.text, depth) : filled(el('blockquote'), b.text);
	default: return inline(el('p', {dir: 'auto'}), b.text);
	}
}

export const markdown = text => inner(el('div.md'), text, -1);

/* Text that grows: `update` with all of it so far. */
export class Markdown {
	constructor() {
		this.node = el('div.md');
		this.reset();
	}

	reset() {
		this.node.replaceChildren();
		Object.assign(this, {text: '', closed: 0 /* characters in closed blocks */, open: [], raw: null /* an open fence */});
	}

	update(text, done) {
		if (text === this.text && !done) return;
		if (!text.startsWith(this.text.slice(0, this.closed))) this.reset();
		const list = blocks(text.slice(this.closed), this.closed), b = list.at(-1), fence = !done && b?.type === 'code' && !b.shut;
		this.text = text;
		if (fence && list.length === 1 && this.raw && b.text.startsWith(this.raw.data)) {
			this.raw.appendData(b.text.slice(this.raw.length));
			return;
		}
		for (const e of this.open) e.remove();
		this.raw = null;
		const nodes = list.map(x => block(x)), shut = done ? list.length : list.length - 1;
		this.node.append(...nodes);
		this.open = nodes.slice(Math.max(0, shut));
		if (shut > 0) this.closed = list[shut - 1].to;
		if (fence) nodes.at(-1).lastChild.replaceChildren(this.raw = document.createTextNode(b.text));
	}
}
