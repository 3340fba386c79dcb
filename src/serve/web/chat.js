/* chat.js - the conversation alone: choose an agent, talk. Each message after
 * the first is a run that follows the last one. */
import {el, oneLine, plain, keep} from './text.js';
import * as api from './api.js';
import {shell, go} from './main.js';
import {RunPage, composer} from './run.js';

const to = run => go('/chat/' + encodeURIComponent(run));

class Chat extends RunPage {
	get chat() { return true; }
	next(run) { to(run); }
}

async function start(main) {
	shell.crumbs('chat');
	shell.title('chat \u2013 wend');
	const got = await api.ask('/v1/agents').catch(e => ({agents: [], why: e.message}));
	const last = keep('agent') ?? got.default, key = api.idempotency();
	const picks = el('div.agents', {role: 'radiogroup', 'aria-label': 'Agent'}, ...got.agents.map(a =>
		el('label', el('input', {type: 'radio', name: 'agent', value: a.name, checked: a.name === last || got.agents.length === 1}),
			oneLine(a.name, 60), el('small', oneLine(a.description || a.model, 140)))));
	const text = el('textarea', {id: 'say', rows: 3, dir: 'auto', 'aria-label': 'Message', placeholder: 'What should be done?'});
	const {form} = composer(text, 'Start', async prompt => {
		const agent = picks.querySelector(':checked')?.value;
		if (agent) keep('agent', agent);
		to((await api.post('/v1/runs', {prompt, ...(agent ? {agent} : {})}, key)).run);
	});
	main.replaceChildren(el('div.chat-start', el('h2', 'New chat'), picks, form, got.why ? el('p.why', plain(got.why, 400)) : '',
		got.agents.length ? '' : el('p.mute', 'No agents: ', el('code', 'wend serve --agents DIR'), ' offers those of a folder.')));
	text.focus();
}

export async function open(main, [id], params) {
	if (!id) return start(main);
	const page = new Chat(main, id, params);
	main.classList.add('chat');
	page.tab('talk', true);
	page.load();
	page.text.focus();
	return {close: () => page.close(), key: e => page.key(e), ownStream: true, page};
}
