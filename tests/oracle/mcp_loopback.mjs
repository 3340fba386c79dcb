// mcp_loopback.mjs - for `node --import`: whatever listens, listens on
// 127.0.0.1. The servers of others mean all interfaces if not told.
import net from 'node:net';

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (port, ...rest) {
    const done = rest.at(-1);

    if (typeof port === 'object')
        return listen.call(this, port, ...rest);
    if (typeof done === 'function')
        this.once('listening', done);
    // As listen does without a host: at once, so that address() is known.
    this._listen2('127.0.0.1', Number(port), 4, 511);
    return this;
};
