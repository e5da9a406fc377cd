import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { runTcp } from '../../../packages/diagnostics/src/types/tcp/run.ts';
import { testContext } from '@vantage/test-support/context';
import { median, type Figure } from '../goals.ts';

const ROUNDS = 60;
const WARM_UP = 5;
/**
 * Pause before each attempt. An agent is idle before most of its checks, which leaves caches and processor cold for
 * every program.
 */
const IDLE_MS = 200;

/** A listener in a separate process, so that it does not affect the time of a handshake. */
const LISTENER = `
  const server = require('node:net').createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

/** The lower bound: a blocking connect(2), timed around the system call, per request on standard input. */
const BARE_CONNECT = `
import socket, struct, sys, time
address = ('127.0.0.1', int(sys.argv[1]))
for line in sys.stdin:
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    started = time.perf_counter()
    one.connect(address)
    took = time.perf_counter() - started
    one.close()
    print(took * 1000, flush=True)
`;

/**
 * The RTT of each attempt of a tcp check after a pause, compared with a bare handshake after the same pause, in
 * turns.
 */
export async function tcp(): Promise<readonly Figure[]> {
  const listener = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = Number(await nextLine(createInterface({ input: listener.stdout })));
  const bare = spawn('python3', ['-c', BARE_CONNECT, String(port)], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    return await measure(port, bare);
  } finally {
    for (const child of [bare, listener]) await ended(child);
  }
}

async function measure(port: number, bare: ChildProcess): Promise<readonly Figure[]> {
  const answers = createInterface({ input: bare.stdout! });
  const attempts: readonly number[][] = [[], [], []];
  const floor: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    await sleep(IDLE_MS);
    const outcome = await runTcp({ host: '127.0.0.1', port, options: { attempts: 3 } }, testContext());
    await sleep(IDLE_MS);
    bare.stdin!.write('\n');
    const bareMs = Number(await nextLine(answers));
    if (round < WARM_UP) continue;
    floor.push(bareMs);
    for (const [index, { rt }] of outcome.attempts!.entries()) attempts[index]!.push(rt!);
  }
  const [first, second, third] = attempts.map(median) as [number, number, number];
  const floorMs = median(floor);
  const comparison = `connect(2) of a bare program ${floorMs.toFixed(3)} ms; second attempt ${second.toFixed(3)} ms, third ${third.toFixed(3)} ms`;
  return [
    { name: 'RTT of the first attempt after a rest, p50', value: first, unit: 'ms', comparison },
    {
      name: 'first attempt p50, more than a bare connect(2)',
      value: first - floorMs,
      unit: 'ms',
      atMost: 0.05,
      comparison,
    },
  ];
}

async function nextLine(lines: Interface): Promise<string> {
  const [line] = (await once(lines, 'line')) as [string];
  return line;
}

async function ended(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
