/* plan.js - paste a plan, see its checks and its drawing, run it. */
import {el, plain, oneLine, ms, button, keep, frames, runHref} from './text.js';
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
		this.text = el('textarea', {spellcheck: 'false', wrap: 'off', 'aria-label': 'Plan', placeholder: 'Paste a plan: YAML or JSON',
			on: {input: () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.check(), 300); }}});
		this.errors = el('ul.errors', {'aria-live': 'polite'});
		this.run = button('Run', () => this.start(), {class: 'main', disabled: true});
		this.sum = el('span.mute.grow');
		this.pic = el('div.pic', {tabindex: 0});
		this.link = el('span');
		main.replaceChildren(el('div.plan-page', el('div.plan-left', this.text, this.errors),
			el('div.plan-right', el('div.tools', this.sum, this.link, this.run), this.pic)));
		this.text.value = keep('plan') ?? '';
		if (this.text.value) this.check();
		else this.pic.replaceChildren(el('div.empty', el('p', 'A plan is a graph of actions; see wend-plan(5).'),
			button('Begin with an example', () => { this.text.value = FIRST; this.check(); })));
	}

	async check() {
		const text = this.text.value, mine = this.asked = {};
		keep('plan', text.slice(0, 200000));
		if (!text.trim()) return;
		const {ok, plan: p, errors = []} = await api.post('/v1/plans/check', {plan: text}).catch(e => ({errors: [e]}));
		if (mine !== this.asked) return;
		this.run.disabled = !ok;
		this.errors.replaceChildren(...errors.map(e => el('li', button((e.line ? `${e.line}:${e.column}: ` : '') + plain(e.message, 500),
			() => this.jump(e), {class: 'link'}))));
		if (!ok) return;
		this.sum.textContent = `${oneLine(p.name, 60)}: ${p.count} actions in ${p.waves} waves` +
			(p.critical_path_ms ? `, at least ${ms(p.critical_path_ms)}` : '');
		this.pic.replaceChildren(dag(p.actions, a => this.jump(a)));
	}

	jump({line, column}) {
		if (!line) return;
		const from = this.text.value.split('\n').slice(0, line - 1).reduce((n, l) => n + l.length + 1, column - 1);
		this.text.focus();
		this.text.setSelectionRange(from, from + 1);
	}

	async start() {
		this.run.disabled = true;
		try {
			const {run} = await api.post('/v1/runs', {plan: this.text.value}, api.idempotency());
			this.link.replaceChildren(el('a', {href: runHref(run)}, 'Open the run'));
			this.follow(run);
		} catch (e) {
			this.errors.replaceChildren(el('li.why', plain(e.message, 500)));
		}
		this.run.disabled = false;
	}

	follow(run) {
		const log = new Log(), draw = frames(() => {
			if (log.state.deps.size) this.pic.replaceChildren(dag(actionsOf(log.state)));
			this.sum.textContent = `${oneLine(log.state.run?.prompt, 60)}: ${log.state.status}`;
		});
		this.stream?.close();
		this.stream = api.stream({
			path: () => api.run(run, '/events'), last: () => log.state.seq, over: () => !!log.state.outcome,
			state: (what, at) => shell.lost(what === 'lost' ? at : 0),
			frame: (event, data) => {
				if (event !== 'lagged') log.add(data);
				draw();
			},
		});
	}
}

export async function open(main, [sha]) {
	shell.crumbs('plan');
	shell.title('plan \u2013 wend');
	const page = new Plan(main);
	if (sha) api.ask('/v1/blobs/' + encodeURIComponent(sha), {text: true}).then(t => { page.text.value = t; page.check(); });
	return {close: () => page.stream?.close(), ownStream: true};
}
