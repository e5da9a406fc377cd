import { isIP } from 'node:net';

import type { Answer, Request } from './channel/messages.ts';
import { createUnhurried } from './channel/unhurried.ts';
import { errnoError } from './errno.ts';
import { startPacketChild, type PacketChild, type PacketProcessOptions } from './packet-child.ts';
import type { ReceivedPacket } from './packet-socket.ts';

export interface PacketProcessStatus {
  readonly pid: number | null;
  /** Number of unexpected exits and failed starts. */
  readonly crashes: number;
  readonly reason: string | null;
}

/** Handlers of unsolicited messages. */
export interface LinkListeners {
  readonly onPacket: (ref: number, packet: ReceivedPacket) => void;
  /** Called when the packet process has ended or cannot be started: everything that was open is lost. */
  readonly onLost: (error: Error) => void;
}

interface Waiter {
  readonly ref: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Pauses (ms) after the first, second … failure in a row: at most 4 s during the first minute of a shortage. */
const BACKOFF_MS: readonly number[] = [0, 250, 1_000, ...Array.from({ length: 15 }, () => 4_000), 30_000];

/** A packet process with a pending reply is hung after this silence. The agent's own stalls do not count. */
const SILENCE_MS = 5_000;
const LATE_MS = 500;

/** Requests to the packet process and their answers. The process is started on first use, and again after a crash. */
export class PacketLink {
  private readonly options: PacketProcessOptions;
  private readonly listeners: LinkListeners;
  private readonly waiters = new Map<number, Waiter>();
  private counter = 0;
  private child: PacketChild | undefined;
  private starting: Promise<PacketChild> | undefined;
  private isClosed = false;
  private crashes = 0;
  private failuresInRow = 0;
  private failedAtMs = 0;
  private reason: Error | undefined;
  private silence: NodeJS.Timeout | undefined;
  private readonly unhurried = createUnhurried((request) => this.child?.send(request));
  /** Sends requests that have no answer and are not urgent. */
  readonly tellSoon = (request: Request): void => this.unhurried.add(request);

  constructor(options: PacketProcessOptions, listeners: LinkListeners) {
    this.options = options;
    this.listeners = listeners;
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /** Why the process last ended or could not be started. */
  get failure(): Error | undefined {
    return this.reason;
  }

  get status(): PacketProcessStatus {
    return {
      pid: this.child?.pid ?? null,
      crashes: this.crashes,
      reason: this.child === undefined ? (this.reason?.message ?? null) : null,
    };
  }

  /** @throws if the process was closed or cannot be started, or `BACKOFF_MS` delays the next start after a failure */
  async ready(): Promise<void> {
    if (this.child === undefined) await this.start();
  }

  /** The next number for a socket (its reference) or a request (its token). */
  nextNumber(): number {
    this.counter = this.counter >= 0xffff_ffff ? 1 : this.counter + 1;
    return this.counter;
  }

  /** Resolves with the answer. Rejects if the process does not run or ends, or if socket `ref` (0: none) is closed. */
  ask(ref: number, token: number, request: Request): Promise<Answer> {
    const { child } = this;
    return new Promise((resolve, reject) => {
      if (child === undefined) return reject(this.reason ?? errnoError('ECHILD', 'The packet process does not run.'));
      this.waiters.set(token, { ref, resolve, reject });
      if (this.silence === undefined) this.listen(true);
      return this.tell(request);
    });
  }

  /** Sends a request, after those of `tellSoon`, without waiting for an answer. */
  tell(request: Request): void {
    this.unhurried.flush();
    this.child?.send(request);
  }

  /** Rejects the pending requests of a socket. */
  abandon(ref: number): void {
    for (const [token, waiter] of this.waiters) {
      if (waiter.ref !== ref) continue;
      this.waiters.delete(token);
      waiter.reject(errnoError('EBADF', 'The socket was closed.'));
    }
  }

  async sourceFor(destination: string): Promise<string> {
    if (isIP(destination) === 0) throw new RangeError('Not an IP address.');
    await this.ready();
    const token = this.nextNumber();
    const answer = await this.ask(0, token, { op: 'source', token, destination });
    if (answer.op !== 'source') throw errnoError('EPROTO', 'An answer of another kind.');
    if (answer.errno !== '') throw errnoError(answer.errno, 'There is no route to the destination.');
    return answer.address;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const running = this.child ?? (await this.starting?.catch(() => undefined));
    await running?.stop();
    if (running !== undefined) this.lose(errnoError('ECHILD', 'The packet process was closed.'));
  }

  private async start(): Promise<PacketChild> {
    if (this.isClosed) throw errnoError('ECHILD', 'The packet process was closed.');
    const backoffMs = BACKOFF_MS[Math.min(this.failuresInRow, BACKOFF_MS.length) - 1] ?? 0;
    if (this.reason !== undefined && performance.now() - this.failedAtMs < backoffMs) throw this.reason;
    this.starting ??= startPacketChild(this.options, {
      onAnswer: (answer) => this.onAnswer(answer),
      onLost: (error) => this.lose(error),
    }).then(
      (started) => (this.child = started),
      (error: Error) => {
        this.lose(error);
        throw error;
      },
    );
    return this.starting;
  }

  private onAnswer(answer: Answer): void {
    if (answer.op === 'packet') this.listeners.onPacket(answer.ref, answer);
    else if (answer.op === 'opened') this.settle(answer.ref, answer);
    else if (answer.op !== 'ready') this.settle(answer.token, answer);
    this.listen(this.waiters.size > 0);
  }

  private settle(token: number, answer: Answer): void {
    const waiter = this.waiters.get(token);
    this.waiters.delete(token);
    waiter?.resolve(answer);
  }

  private lose(error: Error): void {
    if (performance.now() - this.failedAtMs > BACKOFF_MS.at(-1)!) this.failuresInRow = 0;
    [this.child, this.starting, this.reason] = [undefined, undefined, error];
    this.unhurried.drop();
    this.crashes += this.isClosed ? 0 : 1;
    this.failuresInRow += 1;
    this.failedAtMs = performance.now();
    if (!this.isClosed) this.options.onFailure?.(error);
    this.listen(false);
    const waiting = [...this.waiters.values()];
    this.waiters.clear();
    for (const waiter of waiting) waiter.reject(error);
    this.listeners.onLost(error);
  }

  /** Restarts the timeout of the packet process, or stops it if no answer is expected. */
  private listen(isOwing: boolean): void {
    clearTimeout(this.silence);
    this.silence = undefined;
    if (!isOwing) return;
    const dueMs = performance.now() + SILENCE_MS;
    // After a stall, timers run before pending answers are read: `setImmediate` lets those be read first.
    const timer = setTimeout(() => setImmediate(() => void (this.silence === timer && this.onDue(dueMs))), SILENCE_MS);
    this.silence = timer.unref();
  }

  private onDue(dueMs: number): void {
    if (performance.now() - dueMs > LATE_MS) this.listen(true);
    else this.onSilence();
  }

  private onSilence(): void {
    this.listen(false);
    if (this.waiters.size > 0) {
      this.child?.kill(`did not answer for ${SILENCE_MS / 1_000} seconds, and was ended`);
      return;
    }
    // The caller has aborted, maybe before an answer was due: a request that always has an answer reveals a hang.
    this.sourceFor('127.0.0.1').catch(() => undefined);
  }
}
