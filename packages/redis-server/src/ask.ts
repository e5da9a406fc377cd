import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const COMES_ABOUT_WITHIN_MS = 60_000;

/**
 * Sends one command and returns the raw reply.
 *
 * @throws for an error reply, without a connection, and after 15 s of silence
 */
export function ask(port: number, ...words: readonly string[]): Promise<string> {
  const command = [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join(
    '\r\n',
  );
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.end(command));
    socket.setTimeout(15_000, () => socket.destroy(new Error(`no answer to ${words.join(' ')}`)));
    socket.on('data', (data) => (reply += data.toString()));
    socket.once('error', reject);
    socket.once('close', () => {
      if (reply.startsWith('-')) reject(new Error(`${words.join(' ')}: ${reply.trim()}`));
      else resolve(reply);
    });
  });
}

/**
 * Waits until the condition holds; an error counts as false.
 *
 * @throws if the condition does not hold within `COMES_ABOUT_WITHIN_MS`
 */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + COMES_ABOUT_WITHIN_MS;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > giveUpAt) throw new Error('The servers did not find each other within a minute.');
    await sleep(50);
  }
}
