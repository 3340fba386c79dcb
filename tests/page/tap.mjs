/* tap.mjs - says what holds. */
let checks = 0, bad = 0;

export function ok(held, name, why) {
  checks++;
  if (!held) bad++;
  console.log(`${held ? 'ok' : 'not ok'} ${checks} - ${name}`);
  if (!held && why !== undefined) console.log('# ' + String(why).slice(0, 2000).replace(/\n/g, '\n# '));
  return held;
}

export function is(got, wanted, name) {
  const a = JSON.stringify(got), b = JSON.stringify(wanted);
  return ok(a === b, name, `got:    ${a}\nwanted: ${b}`);
}

export function skip(name, why) {
  console.log(`ok ${++checks} - ${name} # SKIP ${why}`);
  console.error(`SKIPPED: ${name}: ${why}`);
}

export function finish() {
  console.log('1..' + checks);
  process.exitCode = bad ? 1 : 0;
}
