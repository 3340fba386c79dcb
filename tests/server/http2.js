// http2.js - what wend-test-server does not speak: HTTP/2, by node.
//
//   node http2.js CERT KEY
//
// prints its port. /stats counts sessions and streams; any other path gets
// a hundred pieces of 3000 bytes. Ends with its standard input.
'use strict';
const fs = require('fs');
const http2 = require('http2');

const server = http2.createSecureServer({
    cert: fs.readFileSync(process.argv[2]),
    key: fs.readFileSync(process.argv[3]),
});
const count = {sessions: 0, streams: 0};

function talk(stream, left) {
    if (!left) {
        stream.end();
        return;
    }
    stream.write('x'.repeat(3000));
    setImmediate(talk, stream, left - 1);
}

server.on('session', () => count.sessions++);
server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    stream.respond({':status': 200, 'retry-after': '7'});
    if (headers[':path'] === '/stats') {
        stream.end(JSON.stringify(count));
    } else {
        count.streams++;
        talk(stream, 100);
    }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
