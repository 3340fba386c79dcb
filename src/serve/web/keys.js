/* keys.js - the sheet of keys. */
import {el, button, sheet} from './text.js';

const KEYS = [['?', 'this sheet'], ['j k', 'next, previous row'], ['/', 'filter'],
	['g g', 'first message'], ['G', 'last message'], ['[ ]', 'previous, next turn'],
	['n', 'next failure'], ['l', 'back to live'], ['y', 'copy a link to this view'],
	['w s', 'zoom in, out'], ['a d', 'earlier, later'], ['f 0', 'fit the choice, all'],
	['x', 'true time, cut time'], ['c', 'critical path only'], ['Enter', 'open a row'],
	['\u2190 \u2192', 'fold, unfold; on the slider: an event, with Shift a turn']];

export function help() {
	const d = sheet('Keys', el('div.keys', ...KEYS.flatMap(([k, what]) => [el('span',
		...k.split(' ').flatMap(x => [el('kbd', x), ' '])), el('span', what)])),
	el('p.mute', 'Single keys can be turned off in the menu.'), el('div.buttons', button('Close', () => d.close())));
}
