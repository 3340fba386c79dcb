/* plan.js - paste a plan, see its checks and its drawing, run it. */
import {el, plain, oneLine, ms, button, keep, runHref} from './text.js';
import {Log} from './fold.js';
import {dag, actionsOf} from './graph.js';
import * as api from './api.js';
import {shell} from './main.js';

const FIRST = `wend: plan/1
name: two sums
actions:
  - {name: one, type: tool, target: calculator, params: {expression: 6*7}, output_key: x}
  - {name: two, type: tool, target: calculator, params: {expression: "$x+1"}, depends_on: [one]}
`;

class Plan {
	constructor(main) {
		this.text = el('textarea', {spellcheck: 'false', wrap: 'off', 'aria-label': 'Plan',
			placeholder: 'Paste a plan: YAML or JSON', on: {input: () => this.typed()}});
		this.text.value = keep('plan') ?? '';
		this.errors = el('ul.errors', {'aria-live': 'polite'});
		this.run = button('Run', () => this.start(), {class: 'main', disabled: true});
		this.sum = el('span.mute.grow');
		this.pic = el('div.pic', {tabindex: '0'});
		this.link = el('span');
		main.replaceChildren(el('div.plan-page', el('div.plan-left', this.text, this.errors),
			el('div.plan-right', el('div.tools', this.sum, this.link, this.run), this.pic)));
		if (this.text.value) this.check();
		else this.pic.replaceChildren(el('div.empty', el('p', 'A plan is a graph of actions; see wend-plan(5).'),
			button('Begin with an example', () => { this.text.value = FIRST; this.check(); })));
	}

	typed() { clearTimeout(this.timer); this.timer = setTimeout(() => this.check(), 300); }

	async check() {
		const text = this.text.value, mine = this.asked = {};
		keep('plan', text.slice(0, 200000));
		if (!text.trim()) return;
		let r;
		try { r = await api.post('/v1/plans/check', {plan: text}); }
		catch (e) { r = {ok: false, errors: [{line: 0, column: 0, message: e.message}]}; }
		if (mine !== this.asked) return;
		this.run.disabled = !r.ok;
		this.errors.replaceChildren(...(r.errors ?? []).map(e => el('li', button(
			(e.line ? `${e.line}:${e.column}: ` : '') + plain(e.message, 500), () => this.jump(e), {class: 'link'}))));
		if (!r.ok) return;
		const p = r.plan;
		this.sum.textContent = `${oneLine(p.name, 60)}: ${p.count} actions in ${p.waves} waves` +
			(p.critical_path_ms ? `, at least ${ms(p.critical_path_ms)}` : '');
		this.pic.replaceChildren(dag(p.actions, a => this.jump(a)));
	}

	jump({line, column}) {
		if (!line) return;
		const from = this.text.value.split('\n').slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
		this.text.focus();
		this.text.setSelectionRange(from + column - 1, from + column);
	}

	async start() {
		this.run.disabled = true;
		try {
			const {run} = await api.ask('/v1/runs', {method: 'POST', headers: api.idempotency(),
				body: {plan: this.text.value}});
			this.link.replaceChildren(el('a', {href: runHref(run)}, 'Open the run'));
			this.follow(run);
		} catch (e) {
			this.errors.replaceChildren(el('li.why', plain(e.message, 500)));
		}
		this.run.disabled = false;
	}

	/* The boxes take the states of the run. */
	follow(run) {
		this.stream?.close();
		const log = new Log();
		let frame = 0;
		this.stream = api.stream({path: () => api.run(run, '/events'), last: () => log.state.seq,
			over: () => !!log.state.outcome, frame: (i, event, data) => {
				if (event === 'lagged') return;
				log.add(data);
				frame ||= requestAnimationFrame(() => {
					frame = 0;
					if (log.state.deps.size) this.pic.replaceChildren(dag(actionsOf(log.state)));
					this.sum.textContent = `${oneLine(log.state.run?.prompt, 60)}: ${log.state.status}`;
				});
			}, state: (what, at) => shell.lost(what === 'lost' ? at : 0)});
	}
}

export async function open(main, [sha]) {
	shell.crumbs('plan');
	shell.title('plan \u2013 wend');
	const page = new Plan(main);
	if (sha) api.ask('/v1/blobs/' + encodeURIComponent(sha), {text: true}).then(t => {
		page.text.value = t;
		page.check();
	}, () => {});
	return {close: () => page.stream?.close(), ownStream: true};
}
