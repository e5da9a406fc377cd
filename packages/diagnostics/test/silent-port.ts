import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/** Listens with a backlog of one and never accepts: its thread sleeps permanently. */
const LISTENER = `
  const server = require('node:net').createServer();
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

/**
 * Opens a port of 127.0.0.1 that answers no SYN: its accept queue is full, and Linux drops every further connection.
 */
export async function silentPort(): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const child = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  // Linux queues one more than the backlog.
  const queued = [0, 1].map(() => connect({ host: '127.0.0.1', port: Number(port) }).on('error', () => undefined));
  await Promise.all(queued.map((socket) => once(socket, 'connect')));
  return {
    port: Number(port),
    close: async () => {
      for (const socket of queued) socket.destroy();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
