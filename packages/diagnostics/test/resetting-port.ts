import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Listens on 127.0.0.1 in a thread, resets each connection when it is made, and counts those that it has reset. */
const LISTENER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => undefined).once('close', () => {
      Atomics.add(workerData, 0, 1);
      Atomics.notify(workerData, 0);
    });
    socket.resetAndDestroy();
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** Longest wait for a connection: the event loop is blocked, so one that was not begun never comes. */
const NO_CONNECTION_MS = 30_000;

export interface ResettingPort {
  readonly port: number;
  /** Blocks the event loop until as many connections are reset: Node reads the end of the handshake only then. */
  readonly untilReset: (count: number) => void;
  readonly close: () => Promise<void>;
}

/**
 * Opens a port of 127.0.0.1 that accepts each connection and resets it at once, as a load balancer without servers may.
 */
export async function resettingPort(): Promise<ResettingPort> {
  const counted = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(LISTENER, { eval: true, workerData: counted });
  const [port] = (await once(worker, 'message')) as [number];
  return {
    port,
    untilReset: (count) => {
      for (let seen = Atomics.load(counted, 0); seen < count; seen = Atomics.load(counted, 0)) {
        if (Atomics.wait(counted, 0, seen, NO_CONNECTION_MS) === 'timed-out')
          throw new Error('There was no connection.');
      }
    },
    close: async () => void (await worker.terminate()),
  };
}
