// clients.mjs WEND DRIVER DIR - plays runs, and gives their records to the
// clients that clients.sh has installed in DIR.
import { check, finish } from './clients_help.mjs';

try {
    for (const part of ['ag_ui', 'openai', 'ui'])
        await (await import(`./clients_${part}.mjs`)).test();
} catch (e) {
    check(false, 'all of it', e.stack);
}
finish();
