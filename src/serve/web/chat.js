/* chat.js - the conversation alone: choose an agent, talk. Each message after
 * the first is a run that follows the last one. */
import {el, oneLine, plain, keep, on} from './text.js';
import * as api from './api.js';
import {shell, go} from './main.js';
import {RunPage} from './run.js';

class Chat extends RunPage {
	get chat() { return true; }
	next(run) { go('/chat/' + encodeURIComponent(run)); }
}

async function start(main) {
	shell.crumbs(el('span', {'aria-current': 'page'}, 'chat'));
	shell.title('chat \u2013 wend');
	const got = await api.agents().catch(e => ({agents: [], why: e.message}));
	const last = keep('agent') ?? got.default;
	const picks = el('div.agents', {role: 'radiogroup', 'aria-label': 'Agent'},
		...got.agents.map(a => el('label', el('input', {type: 'radio', name: 'agent',
			value: a.name, checked: a.name === last || got.agents.length === 1}),
		oneLine(a.name, 60), el('small', oneLine(a.description || a.model, 140)))));
	const text = el('textarea', {id: 'say', rows: 3, dir: 'auto', 'aria-label': 'Message',
		placeholder: 'What should be done?'});
	const why = el('p.why', {role: 'alert', hidden: true});
	const send = el('button.main', 'Start'), form = el('form.composer', text, send);
	const key = api.idempotency();
	const fail = m => { why.hidden = false; why.textContent = plain(m, 400); };
	on(form, 'submit', async e => {
		e.preventDefault();
		if (!text.value.trim() || send.disabled) return;
		send.disabled = true;
		const agent = picks.querySelector(':checked')?.value;
		if (agent) keep('agent', agent);
		try {
			const r = await api.ask('/v1/runs', {method: 'POST', headers: key,
				body: {prompt: text.value, ...(agent ? {agent} : {})}});
			go('/chat/' + encodeURIComponent(r.run));
		} catch (err) {
			send.disabled = false;
			fail(err.message + (err.body?.hint ? '; ' + err.body.hint : ''));
		}
	});
	on(text, 'keydown', e => {
		if (e.key !== 'Enter' || e.shiftKey || e.isComposing) return;
		e.preventDefault();
		form.requestSubmit();
	});
	main.replaceChildren(el('div.chat-start', el('h1', 'New chat'), picks, form, why,
		got.agents.length ? '' : el('p.mute', 'This server has no agents. ',
			el('code', 'wend serve --agents DIR'), ' offers those of a folder.')));
	if (got.why) fail(got.why);
	text.focus();
}

export async function open(main, [id], params) {
	if (!id) return void await start(main);
	const page = new Chat(main, id, params);
	main.classList.add('chat');
	page.tab('talk', true);
	page.load();
	page.text.focus();
	shell.main.dataset.run = id;
	return {close: () => page.close(), key: e => page.key(e), ownStream: true, page};
}
