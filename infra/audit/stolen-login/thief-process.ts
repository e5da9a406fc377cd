// Repeats one attack as fast as Redis accepts it. Arguments: port, password, index of the attack.
import { connect, type Socket } from 'node:net';

import { agentUser } from '@vantage/contract';

import { MOST_CONNECTIONS } from '../../../apps/coordinator/src/probes/access/connection-quota.ts';
import { attacks, encode, THIEF } from './attacks.ts';

const [port = '', password = '', index = ''] = process.argv.slice(2);
const attack = attacks[Number(index)]!;
const request = encode(attack.request);
/** Some at a time: a small request alone would measure this process. */
const batch = Buffer.concat(
  Array.from({ length: Math.max(1, Math.min(100, Math.floor(100_000 / request.length))) }, () => request),
);

process.on('disconnect', () => process.exit());
for (let count = 0; count < (attack.connections ?? MOST_CONNECTIONS); count += 1) open();
process.send?.('started');

function open(): void {
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  // A connection that was closed reconnects, as an agent may.
  socket.once('close', () => setTimeout(open, 50));
  socket.once('connect', () => {
    socket.write(`AUTH ${agentUser(THIEF)} ${password}\r\n`);
    if (attack.isDeaf === true) socket.pause();
    else socket.resume();
    send(socket);
  });
}

function send(socket: Socket): void {
  socket.write(batch, (error) => {
    if (error === null || error === undefined) setImmediate(() => send(socket));
  });
}
