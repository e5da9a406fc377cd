// Repeats one attack over TLS as fast as Redis accepts it. Arguments: port, file of the CA, name of the agent,
// password, index of the attack.
import { readFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';

import { agentUser } from '@vantage/contract';

import { MOST_CONNECTIONS } from '../../../apps/coordinator/src/probes/access/connection-quota.ts';
import { attacksOf, encode } from './attacks.ts';

const [port = '', caFile = '', thief = '', password = '', index = ''] = process.argv.slice(2);
const attack = attacksOf(thief)[Number(index)]!;
const ca = readFileSync(caFile, 'utf8');
const request = encode(attack.request);
/** Data of a write: at most 100 requests within 100 kB, at least one. A write for each small one would be too slow. */
const batch = Buffer.concat(
  Array.from({ length: Math.max(1, Math.min(100, Math.floor(100_000 / request.length))) }, () => request),
);

process.on('disconnect', () => process.exit());
for (let count = 0; count < (attack.connections ?? MOST_CONNECTIONS); count += 1) open();
process.send?.('started');

function open(): void {
  const socket = connect({ host: '127.0.0.1', port: Number(port), ca });
  socket.on('error', () => undefined);
  // A connection that was closed reconnects, as an agent may.
  socket.once('close', () => setTimeout(open, 50));
  socket.once('secureConnect', () => {
    socket.write(`AUTH ${agentUser(thief)} ${password}\r\n`);
    if (attack.isDeaf === true) socket.pause();
    else socket.resume();
    send(socket);
  });
}

function send(socket: TLSSocket): void {
  socket.write(batch, (error) => {
    if (error === null || error === undefined) setImmediate(() => send(socket));
  });
}
