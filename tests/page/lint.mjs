/* lint.mjs - what no file of the page may have, and how large it may be.
 *
 *     lint.mjs [--self-test]
 */
import {readFileSync, readdirSync} from 'node:fs';
import {ok, is, finish} from './tap.mjs';

const WEB = new URL('../../src/serve/web/', import.meta.url);
const BANS = [
  [/\b(inner|outer)HTML\b/, 'markup from text'], [/\binsertAdjacentHTML\b/, 'markup from text'],
  [/\bdocument\s*\.\s*write/, 'markup from text'], [/\bDOMParser\b/, 'markup from text'],
  [/\bcreateContextualFragment\b|\bsetHTMLUnsafe\b/, 'markup from text'],
  [/\beval\s*\(/, 'text that runs'], [/\bnew\s+Function\b/, 'text that runs'],
  [/set(?:Timeout|Interval)\(\s*['"`]/, 'text that runs'],
  [/setAttribute\(\s*['"`](?:style|on\w*|srcdoc)['"`]/, 'an attribute that runs or styles'],
  [/\.on(?:click|load|error|input|key\w+)\s*=/, 'a handler set as a property'],
  [/\.style\s*\.\s*cssText|\.style\s*=[^=]/, 'a style from text'],
  [/https?:\/\/(?!www\.w3\.org\/2000\/svg)[a-z]/, 'another host'],
  [/\bimport\s*\(\s*[^'")]/, 'a module by a name that is made up'],
  [/\blocalStorage\b.*token|\bcookie\b/, 'a token that others can read'],
];
const MARKUP = [[/\sstyle\s*=/i, 'style attribute'], [/\son\w+\s*=/i, 'handler attribute'],
  [/<script(?![^>]*\ssrc=)/i, 'inline script'], [/<style/i, 'inline style']];
const KB = 1024;
const SIZES = [['html', 4 * KB], ['css', 20 * KB], ['js', 150 * KB], ['', 180 * KB]];

function bans(text, list) {
  const code = text.replace(/\/\*[^]*?\*\//g, '');
  return list.filter(([r]) => r.test(code)).map(([r, why]) => `${why}: ${r.exec(code)[0]}`);
}

const files = readdirSync(WEB).map((name) => [name, readFileSync(new URL(name, WEB), 'utf8')]);
for (const [name, text] of files) {
  is(bans(text, name.endsWith('.html') ? MARKUP : BANS), [], `${name}: nothing that is banned`);
  if (name.endsWith('.js')) ok(/^\/\* [\w.]+ - /.test(text), `${name}: says what it is`);
}
for (const [ext, max] of SIZES) {
  const sum = files.filter(([n]) => n.endsWith(ext)).reduce((n, [, t]) => n + Buffer.byteLength(t), 0);
  ok(sum <= max, `${ext || 'all'}: at most ${max / KB} KB`, `${(sum / KB).toFixed(1)} KB`);
}

/* Each ban finds what it is for. */
const PLANTED = ['e.innerHTML = x', 'e.insertAdjacentHTML("a", x)', 'document.write(x)',
  'new DOMParser()', 'r.createContextualFragment(x)', 'eval(x)', 'new Function(x)',
  "setTimeout('x')", "e.setAttribute('style', x)", 'e.onclick = f', 'e.style.cssText = x',
  "'https://example.org'", 'import(name)', 'document.cookie'];
is(PLANTED.filter((p) => !bans(p, BANS).length), [], 'each ban is found where it is planted');
finish();
