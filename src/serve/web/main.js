/* main.js - the shell: token, router, header, menu. */
import {el, button, keep, clock, plain, say, on, MARKS} from './text.js';
import * as api from './api.js';

const $ = id => document.getElementById(id);
let page = null; /* what is open: {close?, change?, key?, ownStream?} */
let opening = 0, wasPath = null, pasting = false;

/* Path -> module; a page gets the parts of its path. */
const ROUTES = [
	[/^\/$/, () => import('./runs.js')],
	[/^\/r\/([^/]+)$/, () => import('./run.js')],
	[/^\/chat(?:\/([^/]+))?$/, () => import('./chat.js')],
	[/^\/plan(?:\/([^/]+))?$/, () => import('./plan.js')],
	[/^\/diff\/([^/]+)\/([^/]+)$/, () => import('./diff.js')],
];

/* -- The header */

export const shell = {
	main: $('main'),
	crumbs: (...list) => $('crumbs').replaceChildren(el('a.brand', {href: '/'}, 'wend'), ...list.flatMap((c, i) =>
		[el('span.sep', {'aria-hidden': 'true'}, '/'), i === list.length - 1 ? el('h1.here', {'aria-current': 'page'}, c) : c])),
	facts: (...list) => $('facts').replaceChildren(...list),
	acts: (...list) => $('acts').replaceChildren(...list),
	title(text, state = '') {
		document.title = plain(text, 80);
		if (state !== iconState) icon(state);
	},
	lost(since) {
		$('lost').hidden = !since;
		$('lost').textContent = since ? `Lost contact ${new Date(since).toTimeString().slice(0, 8)}, trying again` : '';
	},
};

const HUES = {running: '#1d54ad', waiting: '#b06b00', failed: '#a32410', ok: '#2e7768'};
let iconState = '';

/* The state's mark, so that a tab tells it. */
function icon(state) {
	const c = el('canvas', {width: 32, height: 32}), g = c.getContext('2d');
	iconState = state;
	g.fillStyle = HUES[state] ?? '#555';
	g.roundRect(0, 0, 32, 32, 6);
	g.fill();
	g.translate(4, 4);
	g.scale(2, 2);
	g.strokeStyle = '#fff';
	g.lineWidth = 2;
	g.stroke(new Path2D(MARKS[state]));
	if (state) c.toBlob(b => {
		if (iconState !== state) return;
		URL.revokeObjectURL($('icon').href);
		Object.assign($('icon'), {type: 'image/png', href: URL.createObjectURL(b)});
	});
	else Object.assign($('icon'), {type: 'image/svg+xml', href: '/web/icon.svg'});
}

/* -- The menu */

function menu() {
	const hide = () => $('menu').hidePopover(), changed = () => dispatchEvent(new Event('wend-look'));
	const choice = (key, label, options, done) => el('fieldset.choice', el('legend', label), ...options.map(o =>
		el('label', el('input', {type: 'radio', name: key, checked: o === (keep(key) ?? options[0]),
			on: {change: () => done(keep(key, o))}}), o)));
	$('menu').replaceChildren(
		el('nav', {'aria-label': 'Pages'}, ...[['/', 'Runs'], ['/chat', 'Chat'], ['/plan', 'Plan']].map(([href, t]) =>
			el('a', {href, on: {click: hide}}, t))),
		choice('theme', 'Theme', ['auto', 'light', 'dark'], v => {
			document.documentElement.dataset.theme = v;
			changed();
		}),
		choice('clock', 'Times', ['local', 'UTC', 'since start'], v => {
			clock.mode = v;
			changed();
		}),
		choice('keys', 'Single keys', ['on', 'off'], () => {}),
		button('Keys\u2026', () => { hide(); help(); }));
}

const help = () => import('./keys.js').then(k => k.help());

/* -- The router */

export function go(path) {
	history.pushState(null, '', path);
	return route();
}

/* Changes the query and stays; null removes a key. */
export function query(changes) {
	const p = new URLSearchParams(location.search);
	for (const k in changes) if (changes[k] == null || changes[k] === '') p.delete(k);
	else p.set(k, changes[k]);
	history.replaceState(null, '', location.pathname + (p.size ? '?' + p : ''));
}

function clear() {
	page?.close?.();
	page = wasPath = null;
	shell.crumbs();
	shell.facts();
	shell.acts();
	shell.lost(0);
	shell.main.className = '';
}

async function route() {
	const mine = ++opening, path = location.pathname, params = new URLSearchParams(location.search);
	if (path === wasPath && page?.change) return page.change(params);
	const hit = ROUTES.find(([r]) => r.test(path));
	clear();
	wasPath = path;
	if (!hit) return shell.main.replaceChildren(el('p.empty', 'There is no such page. ', el('a', {href: '/'}, 'All runs')));
	const module = await hit[1]();
	if (mine === opening) page = await module.open(shell.main, hit[0].exec(path).slice(1).map(p => p && decodeURIComponent(p)), params);
}

/* -- The token */

function paste(wrong) {
	if (pasting) return;
	pasting = true;
	clear();
	api.setToken(null);
	shell.title('wend: token');
	const input = el('input', {type: 'password', autocomplete: 'off', id: 'token', 'aria-label': 'Token', required: true});
	shell.main.replaceChildren(el('form.paste', {on: {submit(e) {
		e.preventDefault();
		api.setToken(input.value.trim().replace(/^.*#(?:token=)?/, ''));
		begin();
	}}}, el('h1', 'Token'), el('p', wrong ? 'The server does not accept this token. ' : 'This tab has no token. ',
		'The address that ', el('code', 'wend serve'), ' prints at its start has one: open that, or paste the token here. It stays in this tab.'),
	el('div.line', input, el('button.main', 'Open'))));
	input.focus();
}

async function begin() {
	pasting = false;
	await route();
	if (!pasting) api.startFeed();
}

on(window, 'popstate', route);
on(window, 'hashchange', async () => location.hash && await api.findToken() && begin());
on(document, 'click', e => {
	const a = e.target.closest('a[href]'), u = a && new URL(a.href.baseVal ?? a.href, location);
	if (!a || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey || a.hasAttribute('target') ||
		a.hasAttribute('download') || u.origin !== location.origin || u.hash) return;
	e.preventDefault();
	go(u.pathname + u.search);
});
on(document, 'keydown', e => {
	if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || keep('keys') === 'off' ||
		e.target.closest('input:not([type=range],[type=radio]),textarea,dialog')) return;
	if (e.key === '?') help();
	else if (!page?.key?.(e)) return;
	e.preventDefault();
});
on(api.bus, 'unauthorized', () => paste(true));
on(api.bus, 'feed', ({detail}) => page?.ownStream || shell.lost(detail.what === 'lost' ? detail.at : 0));
on(window, 'unhandledrejection', e => {
	if (e.reason?.name === 'AbortError' || e.reason instanceof api.Problem) e.preventDefault();
	say(e.reason?.message || 'something went wrong');
});

menu();
if (await api.findToken()) begin();
else paste(false);
