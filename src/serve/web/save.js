/* save.js - a run as one HTML file: no script, no request, no link to here. */
import {el, plain, say, stateWord, ms, iso} from './text.js';
import {Talk} from './talk.js';

const esc = s => s.replace(/&/g, '&amp;').replace(/</g, '&lt;');

export async function save(ctx) {
	const css = await (await fetch('/web/app.css')).text(), s = ctx.state;
	const talk = new Talk({...ctx, id: ctx.id, now: () => s.time, select() {}});
	talk.state = s;
	talk.from = s.items.length;
	talk.window(0);
	for (const x of talk.items) for (const d of [x.more, x.thought]) if (d) {
		d.open = true;
		if (x.more) x.fill();
		else x.think(x.span);
		d.open = false;
	}
	for (const b of talk.list.querySelectorAll('button,img')) b.remove();
	const title = plain(s.run?.prompt ?? ctx.id, 120);
	const xml = new XMLSerializer().serializeToString(talk.list);
	const page = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${esc(title)}</title><style>${css.replace(/<\//g, '')} body{display:block;overflow:auto;height:auto;padding:16px}</style>
<h1>${esc(title)}</h1><p class="mute">${esc(`${ctx.id}, ${iso(s.t0)}, ${stateWord({state: s.status, ...s})}, ${
	ms((s.time - s.t0) * 1000)}`)}</p>${xml}
<details><summary>${s.seq} events</summary><pre class="out">${esc(ctx.log.raw.slice(0, s.seq).join('\n'))}</pre></details>`;
	const a = el('a', {href: URL.createObjectURL(new Blob([page], {type: 'text/html'})), download: `run-${ctx.id.slice(0, 13)}.html`});
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 10000);
	say('saved');
}
