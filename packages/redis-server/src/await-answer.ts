import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Maximum time until the first reply, and after each `LOADING`. */
const ANSWERS_WITHIN_MS = 30_000;

interface Starting {
  readonly ended: Promise<void>;
  readonly isOurs: () => boolean;
  readonly password: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Waits until a starting server answers. `LOADING` restarts the time limit, so loading may take any time.
 *
 * @returns undefined once it answers `PONG`, or `-NOAUTH` (it may still be loading); else the reason in parentheses:
 *   the abort or the connection error; empty without one, and if the server has ended, whose log has the reason
 */
export async function whyNoAnswer(
  port: number,
  { ended, isOurs, password, signal }: Starting,
): Promise<string | undefined> {
  let gone = false;
  void ended.then(() => (gone = true));
  let until = performance.now() + ANSWERS_WITHIN_MS;
  let why = '';
  while (!gone && performance.now() < until) {
    if (signal?.aborted === true) return ' (aborted)';
    const { reply, failure } = await ping(port, password);
    why = failure === '' ? '' : ` (${failure})`;
    // The loopback interface is down, in a container without a network for example.
    if (failure.includes('ENETUNREACH')) break;
    // Without the password, -NOAUTH proves that the server is up, though it may still load data.
    if (/^(\+PONG|-NOAUTH)/.test(reply) && isOurs()) return gone ? '' : undefined;
    if (reply.startsWith('-LOADING')) until = performance.now() + ANSWERS_WITHIN_MS;
    await sleep(20);
  }
  return gone ? '' : why;
}

/**
 * @returns the reply to `PING`, empty if none arrives within a second, and the connection error, empty if there is none
 */
function ping(
  port: number,
  password: string | undefined,
): Promise<{ readonly reply: string; readonly failure: string }> {
  return new Promise((resolve) => {
    const commands = password === undefined ? 'PING\r\n' : `AUTH ${password}\r\nPING\r\n`;
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(commands));
    let replies = '';
    const settle = (reply: string, failure = ''): void => {
      socket.destroy();
      resolve({ reply, failure });
    };
    socket.setTimeout(1_000, () => settle(''));
    socket.on('data', (data) => {
      replies += data.toString();
      const ofPing = password === undefined ? replies : replies.slice(replies.indexOf('\r\n') + 2);
      if (ofPing.includes('\r\n')) settle(ofPing);
    });
    socket.once('error', (error) => settle('', error.message));
    socket.once('close', () => settle(''));
  });
}
