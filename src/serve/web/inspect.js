/* inspect.js - everything about one span or one event: summary, what went in,
 * what came out, the events byte for byte. */
import {el, button, filled, foreign, oneLine, plain, badge, look, stateWord, ms, count, cost, when, iso, copy, bytes,
	runHref} from './text.js';
import {output, part, files, why} from './talk.js';
import {markdown} from './md.js';

const TABS = ['Summary', 'In', 'Out', 'Raw'];

/* A JSON value as a tree that unfolds on request. */
export function tree(value, key, open) {
	const name = key == null ? '' : el('span.jkey', plain(String(key), 80) + ': ');
	if (value === null || typeof value !== 'object') {
		return el('div.jrow', name, filled(el('span.j' + typeof value), value ?? 'null', {cap: 20000}));
	}
	const list = Object.entries(value), n = list.length;
	const d = el('details.jtree', {open: !!open, on: {toggle: fill}}, el('summary', name, Array.isArray(value) ? `[${n}]` : `{${n}}`));
	function fill() {
		if (!d.open || d.childElementCount > 1) return;
		for (const [k, v] of list.slice(0, 1000)) d.append(tree(v, k, n < 12 && open > 1 ? open - 1 : 0));
		if (n > 1000) d.append(`${n - 1000} more`);
	}
	fill();
	return d;
}

const facts = rows => el('dl.facts', ...rows.filter(([, v]) => v != null && v !== '' && v !== false)
	.flatMap(([k, v]) => [el('dt', k), el('dd', v)]));
const link = (href, text) => el('a', {href}, text);

export class Inspector {
	constructor(ctx) {
		this.ctx = ctx;
		this.tabs = el('div.tabs.small', {role: 'tablist', 'aria-label': 'Details'}, ...TABS.map(t =>
			button(t, () => this.pick(t), {role: 'tab', class: 'tab'})));
		this.title = el('span.what');
		this.body = el('div.inspect-body', {tabindex: 0, role: 'tabpanel', 'aria-label': 'Details'});
		this.copies = el('span.copies');
		this.node = el('section.inspector', {'aria-label': 'Inspector'}, el('div.inspect-head', this.title, this.tabs,
			el('span.grow'), this.copies, button('\u00d7', () => ctx.select(null), {class: 'close', 'aria-label': 'Close'})), this.body);
		this.pick('Summary');
	}

	pick(t) {
		this.tab = t;
		for (const b of this.tabs.children) b.setAttribute('aria-selected', b.textContent === t);
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
		const w = this.what, s = w?.state ?? state;
		if (!s?.run) return;
		const want = !w ? 'run' : w.span >= 0 ? s.spans[w.span] : w.seq;
		if (want === this.drawn) return;
		this.drawn = want;
		if (!w) this.run(s);
		else if (w.seq) this.event(w.seq);
		else if (want) this.span(s, want, w.run ?? this.ctx.id);
		else this.body.replaceChildren(el('p.mute', 'Not yet at this event.'));
	}

	head(title, copies) {
		this.title.replaceChildren(...title);
		this.copies.replaceChildren(...copies.map(([name, text]) => button('copy ' + name, e =>
			copy(text, e.currentTarget), {class: 'link'})));
	}

	/* Nothing is chosen: the run itself. */
	run(state) {
		const r = state.run, l = r.limits ?? {}, {id} = this.ctx, f = state.fork, labels = Object.entries(r.labels).map(x => x.join('=')).join(', ');
		this.head([el('b', 'Run')], [['id', id], ['link', location.origin + runHref(id)], ['command', 'wend view ' + id]]);
		this.body.replaceChildren(facts([['Agent', foreign(r.agent)], ['Model', foreign(r.model)],
			['Started', `${when(state.t0)} (${iso(state.t0)})`], ['Folder', foreign(r.cwd)],
			['Session', r.session && foreign(r.session)], ['User', r.user && foreign(r.user)],
			['Limits', [l.turns && `${l.turns} turns`, l.time_ms && ms(l.time_ms), l.tokens && count(l.tokens) + ' tokens',
				l.cost && cost(l.cost), l.parallel && `${l.parallel} at once`].filter(Boolean).join(', ')],
			['Tools', r.tools || ''], ['Labels', labels && foreign(labels)],
			['Parent', r.parent && link(runHref(r.parent), r.parent)],
			['Fork of', f && link(runHref(f.parent), `${f.parent}, at ${f.at}`)],
			['Compare', f && link(`/diff/${encodeURIComponent(f.parent)}/${encodeURIComponent(id)}`, 'with its parent')]]));
	}

	span(s, p, run) {
		const json = v => typeof v === 'string' ? v : JSON.stringify(v ?? '', null, 2);
		this.head([badge(look(p), ''), el('b', foreign(oneLine(p.name, 60))), el('span.mute', p.kind)],
			[['text', p.text ?? json(p.output ?? p.args)],
				['JSON', run === this.ctx.id ? this.ctx.log.raw[(p.end || p.seq) - 1] : json(p)],
				['curl', `curl -H "Authorization: Bearer $TOKEN" '${location.origin}/v1/runs/${run}/events?format=json&from=${p.seq}&limit=1'`],
				['wend', `wend log --json --from ${p.seq} ${run}`]]);
		this.body.replaceChildren(...this[this.tab](s, p, run));
		this.body.scrollTop = 0;
	}

	Summary(s, p) {
		const u = p.usage, a = p.ask, now = this.ctx.now(), o = p.policy, ev = n => link(`?e=${n}&v=events`, n);
		const out = [facts([['State', badge(look(p), stateWord(p, now))],
			['Time', `${when(p.t0, s.t0, true)}, ${ms(((p.t1 ?? now) - p.t0) * 1000)}`],
			['First token', p.first && ms((p.first - p.t0) * 1000)],
			['Tokens', u && u.input + u.output > 0 && `${count(u.input)} in (${count(u.cached)} cached), ${count(u.output)} out` +
				`${u.reasoning ? ` (${count(u.reasoning)} thinking)` : ''}, ${cost(u.cost)}`],
			['Tokens', p.tokens && `${count(p.tokens)} of ${count(p.budget)}`],
			['Finish', p.finish && plain(p.finish, 40)],
			['Attempts', p.pieces?.length > 1 && p.pieces.map((q, i) => `${i + 1}: ${q.reason ?? q.state}`).join(', ')],
			['Class', p.class], ['Type', p.type && `${p.type}, ${p.mode}`], ['Target', p.target && foreign(p.target)],
			['Wave', p.wave && p.wave + (p.deps?.length ? ', after ' + plain(p.deps.join(', '), 300) : '')],
			['Policy', o && `${o.decision}, risk ${o.risk}, rule ${plain(o.rule, 80)}`],
			['Approval', a && (a.t1 ? `${a.yes ? 'approved' : 'denied'} by ${plain(a.by, 60)} after ${ms((a.t1 - a.t0) * 1000)}` +
				(a.remember ? ', remembered' : '') : 'waits for you')],
			['Labels', p.labels?.length && foreign(p.labels.join(', '))],
			['Child', p.child && link(runHref(p.child), foreign(p.agent ?? p.child))],
			['Query', p.query && foreign(p.query)],
			['Actions', p.kind === 'plan' && `${p.actions} in ${p.waves} waves`], ['Key', p.idem && foreign(p.idem)],
			['Events', el('span', ev(p.seq), p.end && ' to ', p.end && ev(p.end))]])];
		if (p.error) out.push(why(p.error), p.error.effect_possible ? el('p.warn', 'An effect is possible.') : '');
		return out;
	}

	In(s, p, run) {
		const a = p.args;
		if (p.kind === 'model') return [el('p', `${p.messages} messages. `, link(`?e=${p.seq}&v=context`, 'What was sent'))];
		if (a == null) return [el('p.mute', 'Nothing.')];
		return typeof a !== 'object' || a.blob ? [output(a, run)] :
			Object.entries(a).flatMap(([k, v]) => part(plain(k, 80), v, run));
	}

	Out(s, p, run) {
		const out = [];
		if (p.thinking) out.push(...part('Thinking', p.thinking, run));
		if (p.text) out.push(markdown(p.text));
		for (const c of p.kind === 'model' && p.calls || []) out.push(...part('calls ' + plain(c.name, 60), c.args, run));
		if (p.output != null || p.live) out.push(output(p.output ?? p.live, run));
		if (p.structured != null) out.push(el('div.label', 'Structured'), tree(p.structured, null, 2));
		if (p.parts && p.kind !== 'context') out.push(files(p.parts, run));
		return out.length ? out : [el('p.mute', 'Nothing.')];
	}

	Raw(s, p, run) {
		if (run !== this.ctx.id) return [link(`${runHref(run)}?e=${p.seq}&v=events`, 'Events of the child')];
		return [...new Set([p.seq, p.ask?.seq, p.start, p.end])].filter(Boolean).sort((x, y) => x - y).flatMap(n => this.raw(n));
	}

	raw(seq) {
		const raw = this.ctx.log.raw[seq - 1], pre = filled(el('pre.out', {tabindex: 0}), raw, {cap: 300000}), asTree = () => tree(JSON.parse(raw), null, 3);
		if (!raw) return [];
		const both = el('div', asTree()), flip = button('bytes', () => {
			const b = both.firstChild === pre;
			both.replaceChildren(b ? asTree() : pre);
			flip.textContent = b ? 'bytes' : 'tree';
		}, {class: 'link'});
		return [el('div.label', `Event ${seq}, ${this.ctx.log.types[seq - 1]}, ${bytes(raw.length)} `, flip, ' ',
			button('copy', e => copy(raw, e.currentTarget), {class: 'link'})), both];
	}

	event(seq) {
		this.head([el('b', 'Event ' + seq)], [['JSON', this.ctx.log.raw[seq - 1]],
			['link', `${location.origin}${runHref(this.ctx.id)}?e=${seq}`], ['wend', `wend log --json --seq ${seq} ${this.ctx.id}`]]);
		this.body.replaceChildren(...this.raw(seq));
	}
}
