/* main.js - the shell: token, router, header, menu, clock. */
import {el, keep, clock, plain, say, on} from './text.js';
import * as api from './api.js';

const $ = id => document.getElementById(id);
let page = null; /* what is open: {close, change?, keys?, crumbs?} */
let opening = 0;

/* Path -> module; what a page gets is the parts of its path. */
const ROUTES = [[/^\/$/, () => import('./runs.js')], [/^\/r\/([^/]+)$/, () => import('./run.js')],
	[/^\/chat(?:\/([^/]+))?$/, () => import('./chat.js')],
	[/^\/plan(?:\/([^/]+))?$/, () => import('./plan.js')],
	[/^\/diff\/([^/]+)\/([^/]+)$/, () => import('./diff.js')], ];

/* -- The header */

export const shell = {
	main: $('main'), crumbs(...list) {
		$('crumbs').replaceChildren(el('a.brand', {href: '/'}, 'wend'),
			...list.flatMap(c => [el('span.sep', {'aria-hidden': 'true'}, '/'), c]));
	}, facts: (...list) => $('facts').replaceChildren(...list),
	acts: (...list) => $('acts').replaceChildren(...list), title(text, state) {
		document.title = plain(text, 80);
		icon(state);
	}, lost(since) {
		const e = $('lost');
		e.hidden = !since;
		if (since) e.textContent = 'Lost contact ' +
			new Date(since).toTimeString().slice(0, 8) + ', trying again';
	}, };

let iconState = '', iconUrl = null;
function icon(state = '') {
	if (state === iconState) return;
	iconState = state;
	const probe = getComputedStyle($('menu-button'));
	const colour = {running: '#1d54ad', waiting: '#c27a00', failed: '#b3260d',
		ok: '#2e7768'}[state] || (state ? '#666' : '');
	const c = el('canvas', {width: 32, height: 32}), g = c.getContext('2d');
	if (!state) { $('icon').href = '/web/icon.svg'; return; }
	g.fillStyle = colour || probe.color;
	g.beginPath();
	if (state === 'ok' || state === 'running') g.arc(16, 16, 13, 0, 7);
	else g.roundRect(3, 3, 26, 26, 4);
	g.fill();
	g.strokeStyle = '#fff';
	g.lineWidth = 4;
	g.lineCap = 'round';
	g.beginPath();
	const draw = {ok: [[9, 17], [14, 22], [23, 11]], failed: [[10, 10], [22, 22]],
		waiting: [[12, 9], [12, 23]]}[state] || [[10, 16], [22, 16]];
	draw.forEach(([x, y], i) => i ? g.lineTo(x, y) : g.moveTo(x, y));
	if (state === 'waiting') { g.moveTo(20, 9); g.lineTo(20, 23); }
	if (state === 'failed') { g.moveTo(22, 10); g.lineTo(10, 22); }
	g.stroke();
	c.toBlob(b => {
		if (iconUrl) URL.revokeObjectURL(iconUrl);
		$('icon').type = 'image/png';
		$('icon').href = iconUrl = URL.createObjectURL(b);
	});
}

/* -- The menu */

function choice(name, label, options, now, choose) {
	return el('fieldset.choice', el('legend', label),
		...options.map(([value, text]) => el('label', el('input', {type: 'radio',
			name, value, checked: value === now, on: {change: () => choose(value)}}), text)));
}

export function theme(value) {
	keep('theme', value);
	if (value === 'auto') delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = value;
	dispatchEvent(new Event('wend-look'));
}

function menu() {
	const go = (path, text) => el('a', {href: path,
		on: {click: () => $('menu').hidePopover()}}, text);
	$('menu').replaceChildren(el('nav', {'aria-label': 'Pages'}, go('/', 'Runs'), go('/chat', 'Chat'),
			go('/plan', 'Plan')), choice('theme', 'Theme', [['auto', 'auto'], ['light', 'light'],
			['dark', 'dark']], keep('theme') || 'auto', theme),
		choice('clock', 'Times', [['local', 'local'], ['utc', 'UTC'],
			['start', 'since start']], clock.mode, v => {
			clock.mode = keep('clock', v);
			dispatchEvent(new Event('wend-look'));
		}), choice('keys', 'Single keys', [['on', 'on'], ['off', 'off']],
			keep('keys') || 'on', v => keep('keys', v)), el('button', {type: 'button', on: {click: () => {
			$('menu').hidePopover();
			import('./keys.js').then(k => k.help());
		}}}, 'Keys\u2026'));
}

/* -- The router */

export function go(path, {replace = false} = {}) {
	history[replace ? 'replaceState' : 'pushState'](null, '', path);
	return route();
}

/* Changes the query and stays; null removes a key. */
export function query(changes) {
	const p = new URLSearchParams(location.search);
	for (const k in changes)
		if (changes[k] === null || changes[k] == null || changes[k] === '') p.delete(k);
		else p.set(k, changes[k]);
	const s = p.toString();
	history.replaceState(null, '', location.pathname + (s ? '?' + s : ''));
}

let wasPath = null;
async function route() {
	const mine = ++opening, path = location.pathname;
	const params = new URLSearchParams(location.search);
	if (path === wasPath && page?.change) return page.change(params);
	const hit = ROUTES.find(([r]) => r.test(path));
	page?.close?.();
	page = null;
	wasPath = path;
	shell.facts();
	shell.acts();
	shell.lost(0);
	shell.main.className = '';
	if (!hit) {
		shell.crumbs();
		return void shell.main.replaceChildren(el('p', {class: 'empty'},
			'There is no such page. ', el('a', {href: '/'}, 'All runs')));
	}
	const parts = hit[0].exec(path).slice(1).map(p => p && decodeURIComponent(p));
	const module = await hit[1]();
	if (mine !== opening) return;
	page = await module.open(shell.main, parts, params) || null;
}

function clicked(e) {
	const a = e.target.closest?.('a[href]');
	if (!a || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey ||
		e.shiftKey || e.altKey || a.target || a.hasAttribute('download')) return;
	const u = new URL(a.href);
	if (u.origin !== location.origin || u.pathname.startsWith('/v1/') || u.hash)
		return;
	e.preventDefault();
	go(u.pathname + u.search);
}

/* -- The token */

let pasting = false;
function paste(wrong) {
	if (pasting) return;
	pasting = true;
	page?.close?.();
	page = null;
	wasPath = null;
	api.dropToken();
	shell.crumbs();
	shell.facts();
	shell.acts();
	shell.title('wend: token');
	const input = el('input', {type: 'password', autocomplete: 'off', id: 'token',
		'aria-describedby': 'token-why', required: true});
	const form = el('form', {class: 'paste'}, el('h1', 'Token'),
		el('p', {id: 'token-why'}, wrong ? 'The server does not accept this token. '
			: 'This tab has no token. ', 'The address that ',
		el('code', 'wend serve'), ' prints at its start has one; open that, ' +
			'or paste the token here. It stays in this tab.'),
		el('div.line', input, el('button.main', 'Open')));
	on(form, 'submit', async e => {
		e.preventDefault();
		api.setToken(input.value.trim().replace(/^.*#(?:token=)?/, ''));
		pasting = false;
		begin();
	});
	shell.main.className = '';
	shell.main.replaceChildren(form);
	input.focus();
}

async function begin() {
	shell.crumbs();
	await route();
	if (!pasting) api.startFeed();
}

on(window, 'popstate', route);
on(window, 'hashchange', async () => {
	if (location.hash && await api.findToken()) { pasting = false; begin(); }
});
on(document, 'click', clicked);
on(document, 'keydown', e => {
	const field = e.target.closest?.('input:not([type=range]):not([type=radio]),textarea,select,[contenteditable]');
	if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || field ||
		(keep('keys') || 'on') === 'off' || document.querySelector('dialog[open]'))
		return;
	if (e.key === '?') {
		e.preventDefault();
		return void import('./keys.js').then(k => k.help());
	}
	if (page?.key?.(e)) e.preventDefault();
});
on(api.bus, 'unauthorized', () => paste(true));
on(api.bus, 'feed', ({detail}) => {
	if (!page?.ownStream) shell.lost(detail.what === 'lost' ? detail.at : 0);
});
on(window, 'unhandledrejection', e => {
	if (e.reason?.name === 'AbortError' || e.reason?.status === 401)
		e.preventDefault();
	else say(e.reason?.message || 'something went wrong');
});

menu();
if (await api.findToken()) begin();
else paste(false);
