/* md.js - Markdown to elements, block by block.
 *
 * Text that still comes only changes its last block: blocks before it are
 * closed and never touched again. HTML and images are shown as text; links are
 * http, https or mailto, with their host beside them if the text is another. */
import {el, put, plain} from './text.js';

/* -- Blocks: a pure split of the text */

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|$)/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DELIM = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

const starts = l => FENCE.test(l) || HEADING.test(l) || RULE.test(l) ||
	QUOTE.test(l) || ITEM.test(l);

/* [{type, from, to, ...}]: from and to are places in the text. */
export function blocks(text, base = 0) {
	const out = [];
	let at = 0;
	const lines = [];
	for (const l of text.split('\n')) {
		lines.push({text: l.endsWith('\r') ? l.slice(0, -1) : l, at});
		at += l.length + 1;
	}
	const end = i => i < lines.length ? lines[i].at : text.length;
	for (let i = 0; i < lines.length;) {
		const l = lines[i].text, from = base + lines[i].at;
		let m, k = i + 1;
		if (!l.trim()) { i++; continue; }
		if ((m = FENCE.exec(l))) {
			const close = new RegExp('^ {0,3}' + (m[1][0] === '`' ? '`' : '~') +
				'{' + m[1].length + ',}[ \\t]*$');
			while (k < lines.length && !close.test(lines[k].text)) k++;
			const shut = k < lines.length;
			out.push({type: 'code', from, lang: m[2].trim(), shut,
				text: lines.slice(i + 1, k).map(x => x.text).join('\n')});
			if (shut) k++;
		} else if ((m = HEADING.exec(l))) {
			out.push({type: 'heading', from, level: m[1].length, text: m[2] ?? ''});
		} else if (RULE.test(l)) out.push({type: 'rule', from});
		else if (QUOTE.test(l)) {
			while (k < lines.length && lines[k].text.trim() &&
				(QUOTE.test(lines[k].text) || !starts(lines[k].text))) k++;
			out.push({type: 'quote', from, text: lines.slice(i, k)
				.map(x => QUOTE.exec(x.text)?.[1] ?? x.text).join('\n')});
		} else if (ITEM.test(l)) {
			k = list(lines, i, from, out);
		} else if (k < lines.length && l.includes('|') && DELIM.test(lines[k].text) &&
			lines[k].text.includes('-') && cells(l).length === cells(lines[k].text).length) {
			k++;
			while (k < lines.length && lines[k].text.trim() && lines[k].text.includes('|')) k++;
			out.push({type: 'table', from, rows: lines.slice(i, k).map(x => cells(x.text))});
		} else {
			while (k < lines.length && lines[k].text.trim() && !starts(lines[k].text))
				k++;
			out.push({type: 'text', from, text: lines.slice(i, k)
				.map(x => x.text.trimStart()).join('\n')});
		}
		out.at(-1).to = base + end(k);
		i = k;
	}
	return out;
}

/* A list: items with the lines that are indented below them. */
function list(lines, i, from, out) {
	const first = ITEM.exec(lines[i].text), ordered = /\d/.test(first[2]), items = [];
	let k = i, loose = false;
	while (k < lines.length) {
		const m = ITEM.exec(lines[k].text);
		if (!m || /\d/.test(m[2]) !== ordered) break;
		const indent = m[1].length + m[2].length + 1, body = [m[3] ?? ''];
		for (k++; k < lines.length; k++) {
			const l = lines[k].text;
			if (!l.trim()) {
				const next = lines.slice(k + 1).find(x => x.text.trim());
				if (!next) break;
				const deep = /^ */.exec(next.text)[0].length >= indent;
				if (!deep && !ITEM.test(next.text)) break;
				loose = loose || deep;
				if (deep) body.push('');
				continue;
			}
			const deep = /^ */.exec(l)[0].length;
			if (deep >= Math.min(indent, 2) && (deep >= indent || !ITEM.test(l)))
				body.push(l.slice(Math.min(deep, indent)));
			else if (starts(l)) break;
			else body.push(l.trimStart());
		}
		items.push(body.join('\n').trimEnd());
		if (k < lines.length && !lines[k].text.trim()) break;
	}
	out.push({type: 'list', from, ordered, items, start: ordered ? parseInt(first[2], 10) : 1});
	return k;
}

function cells(line) {
	const out = [];
	let cell = '';
	const l = line.trim();
	for (let i = l[0] === '|' ? 1 : 0; i < l.length; i++) {
		if (l[i] === '\\' && l[i + 1] === '|') { cell += '|'; i++; }
		else if (l[i] === '|') { out.push(cell.trim()); cell = ''; }
		else cell += l[i];
	}
	if (cell.trim() || !l.endsWith('|')) out.push(cell.trim());
	return out;
}

/* -- Inside a line */

const INLINE = new RegExp([
	'\\\\([!-/:-@[-`{-~])', /* 1 escaped */
	'(`+)([^`]|[^`][^]*?[^`])\\2(?!`)', /* 2,3 code */
	'(!?)\\[([^\\[\\]]{0,500})\\]\\(([^()\\s]{1,2000})(?:\\s+"[^"]{0,200}")?\\)', /* 4-6 */
	'(\\*\\*|__)(?=\\S)([^]{1,2000}?\\S)\\7', /* 7,8 strong */
	'(?<![\\w*])([*_])(?=[^\\s*_])([^]{0,2000}?[^\\s*_])\\9(?![\\w*])', /* 9,10 */
	'~~(?=\\S)([^]{1,2000}?\\S)~~', /* 11 */
	'<?(https?://[^\\s<>"\'`)\\]]{1,2000}[^\\s<>"\'`)\\].,;:!?])>?', /* 12 */
].join('|'), 'g');

function href(text) {
	let u;
	try { u = new URL(text); } catch { return null; }
	return ['http:', 'https:', 'mailto:'].includes(u.protocol) ? u : null;
}

function link(to, label, target, depth) {
	const u = href(target);
	if (!u) return put(to, `[${label}](${target})`);
	const a = el('a', {href: u.href, rel: 'noopener noreferrer nofollow',
		target: '_blank', title: plain(u.href, 500)});
	inline(a, label, depth + 1);
	to.append(a);
	const host = u.protocol === 'mailto:' ? u.pathname : u.host;
	if (!label.includes(host))
		to.append(el('span.host', ' (' + plain(host, 100) + ')'));
}

export function inline(to, text, depth = 0) {
	let at = 0;
	if (depth > 4) return void put(to, text);
	for (const m of text.matchAll(INLINE)) {
		if (m.index < at) continue;
		put(to, text.slice(at, m.index));
		at = m.index + m[0].length;
		const sub = (name, s) => {
			const e = el(name);
			inline(e, s, depth + 1);
			to.append(e);
		};
		if (m[1]) put(to, m[1]);
		else if (m[3]) { const e = el('code'); put(e, m[3]); to.append(e); }
		else if (m[6]) m[4] ? put(to, m[0]) : link(to, m[5], m[6], depth);
		else if (m[8]) sub('strong', m[8]);
		else if (m[10]) sub('em', m[10]);
		else if (m[11]) sub('del', m[11]);
		else if (m[12]) link(to, m[12], m[12], depth + 4);
		else put(to, m[0]);
	}
	put(to, text.slice(at));
}

/* -- Blocks to elements */

function tableOf(rows) {
	const align = rows[1].map(c => c.endsWith(':') ? c.startsWith(':') ? 'mid' : 'num' : '');
	const row = (tag, r) => el('tr', ...align.map((a, i) => {
		const e = el(tag, {class: a || null, dir: 'auto'});
		inline(e, r[i] ?? '');
		return e;
	}));
	return el('div.wide', el('table', {}, el('thead', row('th', rows[0])),
		el('tbody', ...rows.slice(2).map(r => row('td', r)))));
}

function listOf(b, depth) {
	const e = el(b.ordered ? 'ol' : 'ul', {dir: 'auto',
		start: b.ordered && b.start !== 1 ? b.start : null});
	for (const text of b.items) {
		const li = el('li', {dir: 'auto'}), task = /^\[([ xX])\]\s+/.exec(text);
		const body = task ? text.slice(task[0].length) : text;
		if (task) li.append(el('span', {class: 'task'}, task[1] === ' ' ? '\u2610 ' : '\u2611 '));
		const inner = depth < 8 ? blocks(body) : [];
		if (inner.length && inner[0].type === 'text') inline(li, inner.shift().text);
		else if (!inner.length) inline(li, body);
		for (const x of inner) li.append(block(x, depth + 1));
		e.append(li);
	}
	return e;
}

export function block(b, depth = 0) {
	let e;
	switch (b.type) {
	case 'code':
		e = el('pre.code', {tabindex: '0', dir: 'ltr'});
		if (b.lang) e.append(el('span.lang', plain(b.lang, 30)));
		put(e.appendChild(el('code')), b.text);
		return e;
	case 'heading':
		e = el('h' + Math.min(6, b.level + 1), {class: 'h h' + b.level, dir: 'auto'});
		inline(e, b.text);
		return e;
	case 'rule': return el('hr');
	case 'table': return tableOf(b.rows);
	case 'list': return listOf(b, depth);
	case 'quote':
		e = el('blockquote');
		if (depth < 8) for (const x of blocks(b.text)) e.append(block(x, depth + 1));
		else put(e, b.text);
		return e;
	default:
		e = el('p', {dir: 'auto'});
		inline(e, b.text);
		return e;
	}
}

/* Text that grows: `update` with all of it so far, `end` when it is complete. */
export class Markdown {
	constructor() {
		this.node = el('div.md');
		this.text = '';
		this.closed = 0; /* characters in closed blocks */
		this.open = []; /* elements of what may still change */
		this.raw = null; /* the text node of an open fence */
	}

	update(text, done) {
		if (text === this.text && !done) return;
		if (!text.startsWith(this.text.slice(0, this.closed))) this.reset();
		const list = blocks(text.slice(this.closed), this.closed);
		if (!done && this.raw && list.length === 1 && list[0].type === 'code' &&
			!list[0].shut && list[0].text.startsWith(this.raw.text)) {
			this.raw.node.appendData(list[0].text.slice(this.raw.text.length));
			this.raw.text = list[0].text;
			this.text = text;
			return;
		}
		for (const e of this.open) e.remove();
		this.open = [];
		this.raw = null;
		/* The last block, and what a blank line may still join to it, is open. */
		const last = done ? list.length : list.length - 1;
		list.forEach((b, i) => {
			const e = block(b);
			this.node.append(e);
			if (i < last) this.closed = b.to;
			else this.open.push(e);
		});
		const b = list.at(-1);
		if (!done && b?.type === 'code' && !b.shut) {
			const code = this.open[0].lastChild, node = document.createTextNode(b.text);
			code.replaceChildren(node);
			this.raw = {node, text: b.text};
		}
		this.text = text;
	}

	reset() {
		this.node.replaceChildren();
		this.closed = 0;
		this.open = [];
		this.raw = null;
	}
}
