import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';

import { askResolversAgainSoon } from '@vantage/settings';

/**
 * This program is a resolver on port 53 that answers only the third copy of each question; it prints the result of a
 * lookup there.
 */
const copies = new Map<string, number>();
const server = createSocket('udp4');
server.on('message', (question, { port, address }) => {
  const key = question.toString('hex');
  const count = (copies.get(key) ?? 0) + 1;
  copies.set(key, count);
  if (count === 3) server.send(answerTo(question), port, address);
});
await new Promise<void>((bound) => server.bind(53, '127.0.0.1', bound));

if (process.argv[2] === 'soon') askResolversAgainSoon(process.env);
const found = await lookup('redis.example', { family: 4 }).catch((error: NodeJS.ErrnoException) => error.code);
process.stdout.write(JSON.stringify(found));
server.close();

/** A response with an A record. After its name, the question must have nothing but type and class. */
function answerTo(question: Buffer): Buffer {
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x81_80, 2);
  header.writeUInt16BE(1, 6);
  header.writeUInt16BE(0, 10);
  const end = question.indexOf(0, 12) + 5;
  const record = Buffer.from('c00c00010001000000050004c0000201', 'hex');
  return Buffer.concat([header, question.subarray(12, end), record]);
}
