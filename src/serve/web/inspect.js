/* inspect.js - everything about one span or one event: summary, what went in,
 * what came out, the events byte for byte. */
import {el, put, foreign, oneLine, plain, badge, stateWord, ms, count, cost,
	when, iso, copy, bytes, runHref} from './text.js';
import {output, files} from './talk.js';
import {Markdown} from './md.js';

const TABS = ['Summary', 'In', 'Out', 'Raw'];

/* A JSON value as a tree that unfolds on request. */
export function tree(value, key, open) {
	const name = key === undefined ? '' : el('span.jkey', plain(String(key), 80) + ': ');
	if (value === null || typeof value !== 'object') {
		const e = el('div.jrow', name);
		const v = el('span', {class: 'j' + (value === null ? 'null' : typeof value)});
		put(v, typeof value === 'string' ? value : JSON.stringify(value), {cap: 20000});
		e.append(v);
		return e;
	}
	const list = Array.isArray(value) ? value.map((v, i) => [i, v]) : Object.entries(value);
	const d = el('details.jtree', el('summary', name,
		el('span.mute', Array.isArray(value) ? `[${list.length}]` : `{${list.length}}`)));
	const fill = () => {
		if (d.childElementCount > 1) return;
		for (const [k, v] of list.slice(0, 1000)) d.append(tree(v, k, list.length < 12 && open > 1 ? open - 1 : 0));
		if (list.length > 1000) d.append(el('div.mute', `${list.length - 1000} more`));
	};
	d.addEventListener('toggle', () => d.open && fill());
	if (open) { fill(); d.open = true; }
	return d;
}

function facts(rows) {
	const dl = el('dl.facts');
	for (const [k, v] of rows) if (v !== null && v !== undefined && v !== '')
		dl.append(el('dt', k), el('dd', v));
	return dl;
}

export class Inspector {
	constructor(ctx) {
		this.ctx = ctx;
		this.tab = 'Summary';
		this.tabs = el('div.tabs.small', {role: 'tablist', 'aria-label': 'Details'},
			...TABS.map(t => el('button', {type: 'button', role: 'tab', class: 'tab',
				'aria-selected': String(t === this.tab), on: {click: () => this.pick(t)}}, t)));
		this.title = el('span.what');
		this.body = el('div.inspect-body', {tabindex: '0', role: 'tabpanel'});
		this.copies = el('span.copies');
		this.node = el('section.inspector', {'aria-label': 'Inspector'},
			el('div.inspect-head', this.title, this.tabs, el('span.grow'), this.copies,
				el('button', {type: 'button', class: 'close', 'aria-label': 'Close',
					on: {click: () => this.ctx.select(null)}}, '\u00d7')), this.body);
	}

	pick(t) {
		this.tab = t;
		for (const b of this.tabs.children)
			b.setAttribute('aria-selected', String(b.textContent === t));
		this.drawn = null;
		this.update(this.ctx.state);
	}

	show(what) {
		this.what = what;
		this.drawn = null;
		this.ctx.node.classList.toggle('inspecting', !!what);
		this.update(this.ctx.state);
	}

	update(state) {
		const w = this.what;
		if (!w) {
			if (this.drawn !== 'none') this.overview(state);
			return;
		}
		const s = w.state ?? state;
		if (w.span >= 0) {
			const p = s.spans[w.span];
			if (!p) return void this.body.replaceChildren(el('p', {class: 'mute'},
				'Not yet at this event.'));
			if (p !== this.drawn) { this.drawn = p; this.span(s, p, w.run); }
		} else if (w.seq && this.drawn !== w.seq && this.ctx.log.raw[w.seq - 1]) {
			this.drawn = w.seq;
			this.event(w.seq);
		}
	}

	/* Nothing is chosen: the run itself. */
	overview(state) {
		const r = state.run;
		if (!r) return;
		this.drawn = 'none';
		this.title.replaceChildren(el('b', 'Run'));
		this.head([['id', this.ctx.id], ['link', location.origin + '/r/' + this.ctx.id],
			['command', 'wend view ' + this.ctx.id]]);
		const l = r.limits ?? {};
		this.body.replaceChildren(facts([['Agent', foreign(r.agent)], ['Model', foreign(r.model)],
			['Started', `${when(state.t0, 0)} (${iso(state.t0)})`],
			['Folder', foreign(r.cwd)], ['Session', r.session && foreign(r.session)],
			['User', r.user && foreign(r.user)],
			['Limits', [l.turns ? `${l.turns} turns` : '', l.time_ms ? ms(l.time_ms) : '',
				l.tokens ? count(l.tokens) + ' tokens' : '', l.cost ? cost(l.cost) : '',
				l.parallel ? `${l.parallel} at once` : ''].filter(Boolean).join(', ')],
			['Tools', String(r.tools || '')],
			['Labels', Object.keys(r.labels).length ? foreign(Object.entries(r.labels)
				.map(([k, v]) => `${k}=${v}`).join(', ')) : ''],
			['Parent', r.parent && el('a', {href: runHref(r.parent)}, r.parent)],
			['Fork of', state.fork && el('a', {href: runHref(state.fork.parent)},
				`${state.fork.parent}, at ${state.fork.at}`)],
			['Compare', state.fork && el('a', {href: `/diff/${encodeURIComponent(state.fork.parent)
			}/${encodeURIComponent(this.ctx.id)}`}, 'with its parent')],
		]));
	}

	head(list) {
		this.copies.replaceChildren(...list.map(([name, text]) => el('button',
			{type: 'button', class: 'link', title: 'Copy ' + name,
				on: {click: e => copy(text, e.currentTarget)}}, 'copy ' + name)));
	}

	span(s, p, run = this.ctx.id) {
		this.title.replaceChildren(badge(p.cached && p.state === 'ok' ? 'cached' : p.state,
			''), el('b', foreign(oneLine(p.name, 60))), el('span.mute', ' ' + p.kind));
		const raw = run === this.ctx.id ? this.ctx.log.raw : null;
		this.head([['text', p.text ?? (typeof p.output === 'string' ? p.output :
			JSON.stringify(p.output ?? p.args ?? '', null, 2))],
		['JSON', raw ? raw[(p.end || p.seq) - 1] : JSON.stringify(p)],
		['curl', `curl -H "Authorization: Bearer $TOKEN" '${location.origin}/v1/runs/${run
		}/events?format=json&from=${p.seq}&limit=1'`],
		['wend', `wend log --json --from ${p.seq} ${run}`]]);
		this.body.replaceChildren(...this[this.tab](s, p, run));
		this.body.scrollTop = 0;
	}

	Summary(s, p, run) {
		const u = p.usage, a = p.ask, now = this.ctx.now();
		const out = [facts([['State', badge(p.state, stateWord(p, now))],
			['Time', `${when(p.t0, s.t0, true)}, ${ms(((p.t1 ?? now) - p.t0) * 1000)}`],
			['First token', p.kind === 'model' && p.first ? ms((p.first - p.t0) * 1000) : ''],
			['Tokens', u && u.input + u.output ? `${count(u.input)} in (${count(u.cached)} cached), ${count(u.output)
			} out${u.reasoning ? ` (${count(u.reasoning)} thinking)` : ''}, ${cost(u.cost)}` : ''],
			['Finish', p.finish && plain(p.finish, 40)],
			['Attempts', p.pieces?.length > 1 ? p.pieces.map((q, i) => `${i + 1}: ${
				q.reason ?? q.state}`).join(', ') : ''],
			['Class', p.class], ['Type', p.type && [p.type, p.mode].join(', ')],
			['Target', p.target && foreign(p.target)],
			['Wave', p.wave ? `${p.wave}${p.deps?.length ? ', after ' + plain(p.deps.join(', '), 300) : ''}` : ''],
			['Policy', p.policy ? `${p.policy.decision}, risk ${p.policy.risk}, rule ${plain(p.policy.rule, 80)}` : ''],
			['Approval', a ? a.t1 ? `${a.yes ? 'approved' : 'denied'} by ${plain(a.by, 60)} after ${
				ms((a.t1 - a.t0) * 1000)}${a.remember ? ', remembered' : ''}` : 'waits for you' : ''],
			['Labels', p.labels?.length ? foreign(p.labels.join(', ')) : ''],
			['Child', p.child && el('a', {href: runHref(p.child)}, foreign(p.agent ?? p.child))],
			['Query', p.query && foreign(p.query)],
			['Tokens', p.tokens && !u ? `${count(p.tokens)} of ${count(p.budget)}` : ''],
			['Actions', p.kind === 'plan' ? `${p.actions} in ${p.waves} waves` : ''],
			['Key', p.idem && foreign(p.idem)],
			['Events', el('span', el('a', {href: `?e=${p.seq}&v=events`}, String(p.seq)), p.end ?
				[' to ', el('a', {href: `?e=${p.end}&v=events`}, String(p.end))].at(0) : '',
			p.end ? el('a', {href: `?e=${p.end}&v=events`}, String(p.end)) : '')], ])];
		if (p.error) {
			const e = el('p.why', {dir: 'auto'});
			put(e, p.error.message, {cap: 10000});
			out.push(e);
			if (p.error.effect_possible) out.push(el('p.warn', 'An effect is possible.'));
		}
		return out;
	}

	In(s, p, run) {
		if (p.kind === 'model') return [el('p', `${p.messages ?? 0} messages. `,
			el('a', {href: `?e=${p.seq}&v=context`}, 'What was sent'))];
		if (p.args === null || p.args === undefined) return [el('p.mute', 'Nothing.')];
		if (typeof p.args !== 'object' || p.args.blob) return [output(p.args, run)];
		return Object.entries(p.args).flatMap(([k, v]) =>
			[el('div.label', plain(k, 80)), output(v, run)]);
	}

	Out(s, p, run) {
		const out = [];
		if (p.kind === 'model') {
			if (p.thinking) out.push(el('div.label', 'Thinking'), output(p.thinking, run));
			const md = new Markdown();
			md.update(p.text, true);
			out.push(md.node);
			for (const c of p.calls ?? []) out.push(el('div', {class: 'label'},
				'calls ', foreign(c.name)), output(c.args, run));
		} else if (p.output !== undefined && p.output !== null) out.push(output(p.output, run));
		else if (p.live) out.push(output(p.live, run));
		if (p.structured !== undefined) out.push(el('div.label', 'Structured'), tree(p.structured, undefined, 2));
		if (p.parts && p.kind !== 'context') out.push(files(p.parts, run));
		return out.length ? out : [el('p.mute', 'Nothing yet.')];
	}

	Raw(s, p, run) {
		if (run !== this.ctx.id) return [el('a', {href: `${runHref(run)}?e=${p.seq}&v=events`},
			'Events of the child')];
		const list = [p.seq, p.ask?.seq, p.start, p.end].filter((n, i, a) => n && a.indexOf(n) === i)
			.sort((x, y) => x - y);
		return list.flatMap(n => this.rawOf(n));
	}

	/* One event: the bytes, or a tree of them. */
	rawOf(seq) {
		const raw = this.ctx.log.raw[seq - 1];
		if (!raw) return [];
		const pre = el('pre.out.raw', {tabindex: '0'});
		put(pre, raw, {cap: 300000});
		const both = el('div', tree(JSON.parse(raw), undefined, 3));
		const flip = el('button', {type: 'button', class: 'link', on: {click: () => {
			const bytesNow = both.firstChild === pre;
			both.replaceChildren(bytesNow ? tree(JSON.parse(raw), undefined, 3) : pre);
			flip.textContent = bytesNow ? 'bytes' : 'tree';
		}}}, 'bytes');
		return [el('div.label', `Event ${seq}, ${plain(this.ctx.log.types[seq - 1], 40)}, `,
			bytes(raw.length), ' ', flip, ' ', el('button', {type: 'button', class: 'link',
				on: {click: e => copy(raw, e.currentTarget)}}, 'copy')), both];
	}

	event(seq) {
		this.title.replaceChildren(el('b', `Event ${seq}`), el('span', {class: 'mute'},
			' ' + plain(this.ctx.log.types[seq - 1], 40)));
		const raw = this.ctx.log.raw[seq - 1];
		this.head([['JSON', raw], ['link', `${location.origin}/r/${this.ctx.id}?e=${seq}`],
			['wend', `wend log --json --seq ${seq} ${this.ctx.id}`]]);
		this.body.replaceChildren(...this.rawOf(seq));
	}
}
