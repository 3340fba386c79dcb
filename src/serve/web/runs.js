/* runs.js - the list of runs, live. */
import {el, button, badge, foreign, oneLine, ms, count, cost, age, iso, say, on, css, frames, runHref, BAD} from './text.js';
import * as api from './api.js';
import {shell, query} from './main.js';

const PAGE = 100;
const OVER = ['ok', 'limit', 'canceled', 'failed', 'interrupted'];
const UNITS = {s: 1, m: 60, h: 3600, d: 86400, w: 604800};
const HEADS = [['state', 'State'], ['prompt', 'Prompt'], ['agent', 'Agent'], ['num.age', 'Age'], ['num.took', 'Time'],
	['num.tokens', 'Tokens'], ['num.cost', 'Cost'], ['spark', '']];

/* `state:failed since:1d agent:x "two words"` to the query of the server. */
export function parse(text) {
	const q = new URLSearchParams(), words = [];
	for (const m of text.matchAll(/(\w+):("[^"]*"|\S+)|"([^"]*)"|\S+/g)) {
		const key = m[1] === 'state' ? 'status' : m[1], value = m[2]?.replace(/^"|"$/g, '');
		const d = /^(\d+)([smhdw])$/.exec(value);
		if (['since', 'until'].includes(key)) q.set(key, d ? Math.floor(Date.now() / 1000 - d[1] * UNITS[d[2]]) : value);
		else if (['status', 'agent', 'session', 'user'].includes(key)) q.set(key, value);
		else words.push(m[3] ?? m[0]);
	}
	if (words.length) q.set('q', words.join(' '));
	return q;
}

const over = r => OVER.includes(r.status);
const took = r => ((r.ended ?? Date.now() / 1000) - r.started) * 1000;

const cells = r => [
	el('td.state', badge(r.status)),
	el('td.prompt', el('a', {href: runHref(r.run)}, foreign(oneLine(r.prompt, 240) || '(no prompt)')), r.fork_of && el('span.tag', 'fork')),
	el('td.agent', foreign(oneLine(r.agent, 40)), el('span.mute', ' ', foreign(oneLine(r.model, 40)))),
	el('td.num.age', el('time', {datetime: iso(r.started), title: iso(r.started)}, age(r.started))),
	el('td.num.took', ms(took(r))),
	el('td.num.tokens', r.tokens_in + r.tokens_out ? count(r.tokens_in + r.tokens_out) : '\u2013'),
	el('td.num.cost', r.cost == null ? el('span.mute', {title: 'cost unknown'}, 'unknown') : cost(r.cost)),
	el('td.spark', {'aria-hidden': 'true'}, el('i', {class: BAD.has(r.status) ? 'bad' : r.status === 'waiting' ? 'wait' :
		over(r) ? '' : 'now'}))];

class Runs {
	constructor(main, params) {
		Object.assign(this, {rows: new Map(), fresh: new Map(), shown: new Map(), filter: params.get('q') || '', soon: frames(() => this.draw())});
		this.input = el('input', {type: 'search', id: 'filter', spellcheck: 'false', placeholder: 'state:failed since:1d "words"',
			'aria-label': 'Filter runs', on: {input: () => this.typed()}});
		this.input.value = this.filter;
		this.news = button('', () => this.take(), {class: 'news', hidden: true});
		this.table = el('table.runs', el('thead', el('tr', ...HEADS.map(([c, t]) => el(t ? 'th.' + c : 'td.' + c, t && {scope: 'col'}, t)))));
		this.more = button('Older runs', () => this.load(this.next), {hidden: true});
		this.empty = el('div.empty', {hidden: true});
		main.className = 'page-runs';
		main.replaceChildren(el('div.bar', this.input, this.news, el('span.grow'), el('a.button', {href: '/plan'}, 'Plan'),
			el('a.button.main', {href: '/chat'}, 'New chat')), this.table, this.empty, this.more);
	}

	typed() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => {
			query({q: this.filter = this.input.value});
			this.load();
		}, 180);
	}

	async load(after) {
		const q = parse(this.filter), mine = this.asked = {};
		q.set('limit', PAGE);
		q.set('top', 1);
		if (after) q.set('after', after);
		const got = await api.ask('/v1/runs?' + q).catch(e => ({why: e.message, runs: []}));
		if (mine !== this.asked) return;
		if (!after) { this.rows.clear(); this.fresh.clear(); }
		for (const r of got.runs) this.rows.set(r.run, r);
		this.more.hidden = !(this.next = got.next);
		this.draw(got.why);
	}

	/* A row that changed. New ones wait until they are asked for. */
	row(r) {
		const known = this.rows.get(r.run);
		if (r.parent || !known && this.filter) return;
		if (!known && this.rows.size && r.status !== 'waiting') {
			this.fresh.set(r.run, r);
			this.news.hidden = false;
			this.news.textContent = `${this.fresh.size} new`;
			return;
		}
		this.rows.set(r.run, {...known, ...r});
		this.soon();
	}

	take() {
		for (const [id, r] of this.fresh) this.rows.set(id, r);
		this.fresh.clear();
		this.news.hidden = true;
		this.draw();
	}

	draw(why) {
		const all = [...this.rows.values()].sort((a, b) => b.started - a.started), today = new Date().toDateString();
		const day = r => {
			const d = new Date(r.started * 1000);
			return d.toDateString() === today ? 'Today' : d.toLocaleDateString(undefined,
				{weekday: 'short', day: 'numeric', month: 'short', year: 'numeric'});
		};
		const waiting = all.filter(r => r.status === 'waiting'), waits = waiting.length, longest = Math.max(1000, ...all.map(took));
		const groups = [['Waiting for you', waiting], ...Map.groupBy(all.filter(r => r.status !== 'waiting'), day)];
		const focus = document.activeElement.closest('tr')?.dataset.run;
		this.table.replaceChildren(this.table.tHead, ...groups.filter(([, l]) => l.length).map(([name, list]) => el('tbody',
			el('tr.group', el('th', {colspan: HEADS.length, scope: 'rowgroup'}, name, ' ', el('span.mute', list.length))),
			...list.map(r => this.tr(r, longest)))));
		if (focus) this.shown.get(focus)?.tr.querySelector('a').focus();
		this.table.hidden = !(this.empty.hidden = !!all.length);
		if (!all.length) this.nothing(why);
		shell.title(waits ? `(${waits}) waits for you \u2013 wend` : 'wend', waits ? 'waiting' : all.every(over) ? '' : 'running');
	}

	tr(r, longest) {
		const text = JSON.stringify(r), was = this.shown.get(r.run), tr = was?.text === text ? was.tr :
			el('tr', {'data-run': r.run}, ...cells(r));
		this.shown.set(r.run, {tr, text});
		css(tr.lastChild.firstChild, '--w', Math.max(0.02, Math.log1p(took(r) / 50) / Math.log1p(longest / 50)));
		return tr;
	}

	nothing(why) {
		this.empty.replaceChildren(...why || this.filter ? [el('p', why ?? 'No run matches.')] : [el('h2', 'No runs yet'),
			el('p', 'Start one here: ', el('a', {href: '/chat'}, 'new chat'), ', or on the command line:'),
			el('pre.code', "wend run -m PROVIDER:MODEL 'What is 6 * 7?'")]);
	}

	tick() {
		for (const [id, {tr}] of document.hidden ? [] : this.shown) {
			const r = this.rows.get(id), put = (c, text) => {
				const e = tr.querySelector(c);
				if (e.textContent !== text) e.textContent = text;
			};
			if (!r || !tr.isConnected) continue;
			put('time', age(r.started));
			if (!over(r)) put('.took', ms(Math.floor(took(r) / 1000) * 1000));
		}
	}

	move(by) {
		const links = [...this.table.querySelectorAll('td a')], at = links.indexOf(document.activeElement);
		links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))]?.focus();
	}
}

export async function open(main, parts, params) {
	const page = new Runs(main, params), end = new AbortController(), timer = setInterval(() => page.tick(), 1000);
	shell.crumbs('runs');
	on(api.bus, 'run', ({detail}) => page.row(detail), end);
	await page.load();
	say(`${page.rows.size} runs`);
	return {
		close() {
			end.abort();
			clearInterval(timer);
		},
		change(p) {
			page.input.value = page.filter = p.get('q') || '';
			page.load();
		},
		key({key}) {
			if (key === 'j' || key === 'k') page.move(key === 'j' ? 1 : -1);
			else if (key === '/') page.input.focus();
			else if (key === 'l') page.take();
			else return false;
			return true;
		},
	};
}
