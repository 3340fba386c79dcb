/* runs.js - the list of runs, live. */
import {el, badge, foreign, oneLine, ms, count, cost, age, iso, say, BAD, runHref, on}
	from './text.js';
import * as api from './api.js';
import {shell, query} from './main.js';

const PAGE = 100;
const OVER = new Set(['ok', 'limit', 'canceled', 'failed', 'interrupted']);
const UNITS = {s: 1, m: 60, h: 3600, d: 86400, w: 604800};

/* `state:failed since:1d agent:x "two words"` to the query of the server. */
export function parse(text) {
	const q = new URLSearchParams(), words = [];
	for (const m of text.matchAll(/(\w+):("[^"]*"|\S+)|"([^"]*)"|(\S+)/g)) {
		const value = m[2]?.replace(/^"|"$/g, '');
		if (m[1] === 'state' || m[1] === 'status') q.set('status', value);
		else if (m[1] === 'agent' || m[1] === 'session' || m[1] === 'user')
			q.set(m[1], value);
		else if (m[1] === 'since' || m[1] === 'until') {
			const d = /^(\d+)([smhdw])$/.exec(value);
			q.set(m[1], d ? Math.floor(Date.now() / 1000 - d[1] * UNITS[d[2]]) : value);
		} else words.push(m[3] ?? m[0]);
	}
	if (words.length) q.set('q', words.join(' '));
	return q;
}

const took = r => ((r.ended ?? Date.now() / 1000) - r.started) * 1000;

function cells(r) {
	return [el('td.state', badge(r.status)),
		el('td.prompt', el('a', {href: runHref(r.run)},
			foreign(oneLine(r.prompt, 240) || '(no prompt)')), r.fork_of ? el('span.tag', 'fork') : null,
		r.child ? el('span.tag', 'child') : null), el('td.agent', foreign(oneLine(r.agent, 40)),
			el('span.mute', ' ', foreign(oneLine(r.model, 40)))),
		el('td.num.age', el('time', {datetime: iso(r.started), title: iso(r.started)}, age(r.started))),
		el('td.num.took', ms(took(r))), el('td.num.tokens', r.tokens_in + r.tokens_out ?
			count(r.tokens_in + r.tokens_out) : '\u2013'),
		el('td.num.cost', r.cost == null ?
			el('span.mute', {title: 'cost unknown'}, 'unknown') : cost(r.cost)),
		el('td.spark', {'aria-hidden': 'true'}, el('i', {class:
			BAD.has(r.status) ? 'bad' : r.status === 'waiting' ? 'wait' :
				OVER.has(r.status) ? '' : 'now'})), ];
}

const HEADS = [['state', 'State'], ['prompt', 'Prompt'], ['agent', 'Agent'],
	['num age', 'Age'], ['num took', 'Time'], ['num tokens', 'Tokens'],
	['num cost', 'Cost'], ['spark', '']];

class Runs {
	constructor(main, params) {
		this.rows = new Map();
		this.order = [];
		this.fresh = [];
		this.shown = new Map(); /* run -> {tr, text} */
		this.filter = params.get('q') || '';
		this.input = el('input', {type: 'search', id: 'filter', value: this.filter,
			spellcheck: 'false', placeholder: 'state:failed since:1d "words"',
			'aria-label': 'Filter runs', on: {input: () => this.typed()}});
		this.news = el('button.news', {type: 'button', hidden: true, on: {click: () => this.take()}});
		this.table = el('table.runs', el('thead', el('tr', {},
			...HEADS.map(([c, t]) => el('th', {class: c, scope: 'col'}, t)))));
		this.more = el('button', {type: 'button', hidden: true,
			on: {click: () => this.load(this.next)}}, 'Older runs');
		this.empty = el('div.empty', {hidden: true});
		main.className = 'page-runs';
		main.replaceChildren(el('div.bar', this.input, this.news,
			el('span.grow'), el('a.button', {href: '/plan'}, 'Plan'),
			el('a.button.main', {href: '/chat'}, 'New chat')), this.table, this.empty, this.more);
	}

	typed() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => {
			this.filter = this.input.value;
			query({q: this.filter});
			this.load();
		}, 180);
	}

	async load(after) {
		const q = parse(this.filter), mine = this.asked = {};
		q.set('limit', PAGE);
		q.set('top', '1');
		if (after) q.set('after', after);
		let got;
		try {
			got = await api.ask('/v1/runs?' + q);
		} catch (e) {
			if (mine === this.asked) this.say(e.message, e.body?.hint);
			return;
		}
		if (mine !== this.asked) return;
		if (!after) { this.rows.clear(); this.fresh = []; }
		for (const r of got.runs) this.rows.set(r.run, r);
		this.next = got.next;
		this.more.hidden = !got.next;
		this.draw();
	}

	/* A row that changed. New ones wait until they are asked for. */
	row(r) {
		if (r.child || r.parent) return;
		if (!this.rows.has(r.run)) {
			if (this.filter) return;
			if (this.rows.size && r.status !== 'waiting') {
				const known = this.fresh.findIndex(f => f.run === r.run);
				if (known >= 0) this.fresh[known] = r;
				else this.fresh.push(r);
				this.news.hidden = false;
				this.news.textContent = `${this.fresh.length} new`;
				return;
			}
		}
		this.rows.set(r.run, {...this.rows.get(r.run), ...r});
		this.soon();
	}

	take() {
		for (const r of this.fresh) this.rows.set(r.run, r);
		this.fresh = [];
		this.news.hidden = true;
		this.draw();
	}

	soon() {
		this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); });
	}

	say(text, hint) {
		this.empty.hidden = false;
		this.empty.replaceChildren(el('p', text), hint ? el('p', hint) : '');
	}

	draw() {
		const all = [...this.rows.values()].sort((a, b) => b.started - a.started);
		const waits = all.filter(r => r.status === 'waiting');
		const rest = all.filter(r => r.status !== 'waiting'), groups = [];
		if (waits.length) groups.push(['Waiting for you', waits]);
		const today = new Date().toDateString();
		for (const r of rest) {
			const d = new Date(r.started * 1000), day = d.toDateString();
			const name = day === today ? 'Today' : d.toLocaleDateString(undefined,
				{weekday: 'short', day: 'numeric', month: 'short', year: 'numeric'});
			if (groups.at(-1)?.[0] !== name) groups.push([name, []]);
			groups.at(-1)[1].push(r);
		}
		const longest = Math.max(1000, ...all.map(took));
		const bodies = groups.map(([name, rows]) => el('tbody', {},
			el('tr.group', el('th', {colspan: HEADS.length, scope: 'rowgroup'},
				name, ' ', el('span.mute', String(rows.length)))), ...rows.map(r => this.tr(r, longest))));
		const focus = document.activeElement?.closest?.('tr')?.dataset.run;
		this.table.replaceChildren(this.table.tHead, ...bodies);
		if (focus) this.shown.get(focus)?.tr.querySelector('a')?.focus();
		this.table.hidden = !all.length;
		this.empty.hidden = !!all.length;
		if (!all.length) this.nothing();
		const open = all.filter(r => !OVER.has(r.status)).length;
		shell.title(waits.length ? `(${waits.length}) waits for you \u2013 wend` : 'wend',
			waits.length ? 'waiting' : open ? 'running' : '');
		this.order = groups.flatMap(([, rows]) => rows.map(r => r.run));
	}

	tr(r, longest) {
		const text = JSON.stringify(r), was = this.shown.get(r.run);
		let tr = was?.tr;
		if (!was || was.text !== text) {
			tr = el('tr', {class: 's-' + r.status});
			tr.dataset.run = r.run;
			tr.append(...cells(r));
			this.shown.set(r.run, {tr, text});
		}
		const w = Math.max(0.02, Math.log1p(took(r) / 50) / Math.log1p(longest / 50));
		tr.lastChild.firstChild.style.setProperty('--w', w.toFixed(3));
		return tr;
	}

	nothing() {
		if (this.filter) return this.say('No run matches.');
		this.empty.replaceChildren(el('h2', 'No runs yet'),
			el('p', 'Start one here: ', el('a', {href: '/chat'}, 'new chat'),
				', or on the command line:'),
			el('pre.code', "wend run -m PROVIDER:MODEL 'What is 6 * 7?'"));
	}

	/* Ages and open durations, once a second while something runs. */
	tick() {
		if (document.hidden) return;
		for (const [id, {tr}] of this.shown) {
			const r = this.rows.get(id);
			if (!r || !tr.isConnected) continue;
			const put = (sel, text) => {
				const e = tr.querySelector(sel);
				if (e && e.textContent !== text) e.textContent = text;
			};
			put('.age time', age(r.started));
			if (!OVER.has(r.status)) put('.took', ms(Math.floor(took(r) / 1000) * 1000));
		}
	}

	move(by) {
		const links = [...this.table.querySelectorAll('td.prompt a')];
		const at = links.indexOf(document.activeElement);
		links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))]?.focus();
	}
}

export async function open(main, parts, params) {
	const page = new Runs(main, params);
	shell.crumbs(el('span', {'aria-current': 'page'}, 'runs'));
	const changed = ({detail}) => page.row(detail);
	on(api.bus, 'run', changed);
	const timer = setInterval(() => page.tick(), 1000);
	await page.load();
	say(`${page.rows.size} runs`);
	return {
		close() {
			api.bus.removeEventListener('run', changed);
			clearInterval(timer);
		}, change(p) {
			page.input.value = page.filter = p.get('q') || '';
			page.load();
		}, key(e) {
			if (e.key === 'j') page.move(1);
			else if (e.key === 'k') page.move(-1);
			else if (e.key === '/') page.input.focus();
			else if (e.key === 'l') page.take();
			else return false;
			return true;
		}, };
}
