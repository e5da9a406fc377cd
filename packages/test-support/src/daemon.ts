import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { UnpackedPackages } from './debian-packages.ts';

/** A server of another maker, running in the foreground with the test's configuration. */
export interface Daemon {
  readonly pid: number;
  /** The last 20,000 characters that the program has printed. */
  readonly output: () => string;
  readonly stop: () => Promise<void>;
}

const READY_MS = 60_000;
const STOP_MS = 3_000;

/**
 * Starts a program and waits until it responds.
 *
 * @param isReady called repeatedly; a rejection counts as false
 * @param inside prefix of the command, such as one that runs it in a network namespace
 * @throws {Error} with the output of the program, if it ends or does not respond within `READY_MS`
 */
export async function startDaemon(
  packages: UnpackedPackages,
  program: string,
  args: readonly string[],
  isReady: () => Promise<boolean>,
  inside: readonly string[] = [],
): Promise<Daemon> {
  const [first, ...rest] = [...inside, packages.program(program), ...args];
  const child = spawn(first!, rest, {
    env: packages.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const exited = once(child, 'exit');
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.removeListener('exit', kill);
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const forced = setTimeout(kill, STOP_MS);
    await exited;
    clearTimeout(forced);
  };
  const until = performance.now() + READY_MS;
  while (!(await isReady().catch(() => false))) {
    const over = performance.now() > until;
    if (child.exitCode === null && !over) {
      await sleep(25);
      continue;
    }
    await stop();
    throw new Error(`${program} ${over ? 'did not answer in time' : `ended (${child.exitCode})`}:\n${output}`);
  }
  return { pid: child.pid!, output: () => output, stop };
}

/** A folder for the configuration and the state of a server. */
export async function temporaryFolder(): Promise<{
  readonly path: string;
  readonly remove: () => Promise<void>;
}> {
  const path = await mkdtemp(join(tmpdir(), 'vantage-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Returns a port that is free for TCP and UDP and that the kernel gives to no socket automatically, because it is below
 * the ephemeral range (unless that begins below 11,000).
 */
export async function freeServerPort(): Promise<number> {
  const [firstOfKernel = 32_768] = (await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'ascii'))
    .split(/\s+/)
    .map(Number);
  for (;;) {
    const port = randomInt(10_000, Math.max(firstOfKernel, 11_000));
    const server = createServer().listen(port);
    const socket = createSocket('udp4').bind(port);
    const bound = await Promise.all([begun(server), begun(socket)]);
    await Promise.all([ended(server), ended(socket)]);
    if (bound.every(Boolean)) return port;
  }
}

/** True if the port could be bound. */
function begun(one: Server | Socket): Promise<boolean> {
  return once(one, 'listening').then(
    () => true,
    () => false,
  );
}

function ended(one: Server | Socket): Promise<void> {
  return new Promise((resolve) => {
    one.close(() => resolve());
  });
}
