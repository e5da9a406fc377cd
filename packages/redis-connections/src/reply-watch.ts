import type { Redis } from 'ioredis';

/** Lateness of a poll that shows a stall, which may have delayed replies, too. */
const HELD_UP_MS = 50;
/** Limit of stall time that is not counted. */
const MAX_HELD_UP_MS = 2_000;
/** Extra time after a stall for replies that arrive meanwhile. */
const RESPITE_MS = 500;
/** States in which pending replies belong to the current stream. */
const connected: ReadonlySet<string> = new Set(['connect', 'ready']);
/** Least number of polls within the timeout of a silent connection. */
const POLLS = 10;

/** A command that awaits its reply. Times are monotonic milliseconds. */
interface OwedCommand {
  /** Time of the first send: a cluster client may send a command again to another server. */
  givenAt?: number;
  sentAt?: number;
  setTimeout: (milliseconds: number) => void;
  readonly isSettled: boolean;
  readonly reject: (error: Error) => void;
}

interface CommandQueue {
  readonly length: number;
  readonly peekAt: (index: number) => { readonly command: OwedCommand } | undefined;
}

/** The internals of an ioredis connection that show pending replies. */
interface Connection {
  readonly status: Redis['status'];
  readonly stream: Redis['stream'];
  readonly options: Pick<Redis['options'], 'commandTimeout' | 'socketTimeout'>;
  /** Sent but unanswered commands, in order. Without a connection, possibly those of the last connection. */
  readonly commandQueue: CommandQueue;
  /** Commands that wait for a connection. */
  readonly offlineQueue: CommandQueue;
  sendCommand: Redis['sendCommand'];
  setSocketTimeout: () => void;
}

/** A period in which the process stalled. */
interface Stall {
  readonly endedAt: number;
  readonly milliseconds: number;
}

/** When data was last received, as of the last poll. */
interface Heard {
  readonly stream: Redis['stream'] | undefined;
  readonly bytes: number;
  readonly at: number;
}

/**
 * Replaces ioredis' timers for `commandTimeout` and `socketTimeout`, which fire before pending replies are read after a
 * stall. One timer per connection, instead of one per command, polls while commands await replies. The interval is a
 * tenth of `socketTimeout`, or less if a timeout is due earlier.
 */
export function watchReplies(redis: Redis): void {
  const connection = redis as unknown as Connection;
  const { commandTimeout, socketTimeout } = connection.options;
  // Without a socket timeout, ioredis' own timers suffice.
  if (socketTimeout === undefined) return;
  const watch = new ReplyWatch(connection, commandTimeout, socketTimeout);
  const send = connection.sendCommand.bind(redis);
  connection.setSocketTimeout = isDoneHere;
  connection.sendCommand = (sent, stream) => {
    const command = sent as unknown as OwedCommand;
    command.setTimeout = isDoneHere;
    command.sentAt = performance.now();
    command.givenAt ??= command.sentAt;
    watch.start();
    return send(sent, stream);
  };
}

class ReplyWatch {
  private readonly connection: Connection;
  private readonly commandTimeout: number | undefined;
  private readonly socketTimeout: number;
  private readonly pollIntervalMs: number;
  private isWatching = false;
  private dueAt = 0;
  private owedSince: number | undefined;
  private stalls: Stall[] = [];
  private heard: Heard = { stream: undefined, bytes: 0, at: 0 };

  constructor(connection: Connection, commandTimeout: number | undefined, socketTimeout: number) {
    this.connection = connection;
    this.commandTimeout = commandTimeout;
    this.socketTimeout = socketTimeout;
    this.pollIntervalMs = socketTimeout / POLLS;
  }

  /** Called for each command: polls run while a reply is pending. */
  start(): void {
    if (!this.isWatching) this.pollIn(this.pollIntervalMs);
  }

  private pollIn(milliseconds: number, isAgain = false): void {
    this.isWatching = true;
    this.dueAt = performance.now() + milliseconds;
    // Unreferenced: the connection itself keeps the process alive while needed.
    setTimeout(() => this.poll(isAgain), milliseconds).unref();
  }

  private poll(isAgain: boolean): void {
    this.isWatching = false;
    const { commandQueue, offlineQueue, status, stream } = this.connection;
    const isConnected = connected.has(status);
    // A stream that was ended with replies pending may be dead too, and would block the next one.
    const isEnding = isConnected && stream.writableEnded;
    this.owedSince = commandQueue.peekAt(0)?.command.sentAt ?? (isEnding ? this.owedSince : undefined);
    if (this.owedSince === undefined && offlineQueue.length === 0) {
      this.stalls = [];
      return;
    }
    const now = performance.now();
    // The replies that arrived during the stall are read first.
    if (this.noteStall(now) && !isAgain) return this.pollIn(1, true);
    if (this.commandTimeout !== undefined) this.rejectOverdue(this.commandTimeout, now);
    if (this.owedSince !== undefined && isConnected) this.endSilent(stream, this.owedSince, now);
    this.pollIn(this.nextPollMs(now));
  }

  /** @returns whether this poll is late */
  private noteStall(now: number): boolean {
    if (now - this.dueAt < HELD_UP_MS) return false;
    const oldest = now - this.socketTimeout - MAX_HELD_UP_MS - RESPITE_MS;
    this.stalls = this.stalls.filter(({ endedAt }) => endedAt > oldest);
    this.stalls.push({ endedAt: now, milliseconds: now - this.dueAt });
    return true;
  }

  private nextPollMs(now: number): number {
    const oldest = this.connection.commandQueue.peekAt(0)?.command.givenAt;
    const silentSince = this.owedSince && Math.max(this.owedSince, this.heard.at);
    return Math.min(
      this.pollIntervalMs,
      leftOf(oldest, this.commandTimeout, now),
      leftOf(silentSince, this.socketTimeout, now),
    );
  }

  private isOver(since: number, limit: number, now: number): boolean {
    if (now - since < limit) return false;
    const heldUp = this.stalls.reduce(
      (sum, { endedAt, milliseconds }) => sum + (endedAt > since ? milliseconds : 0),
      0,
    );
    if (now - since < limit + Math.min(heldUp, MAX_HELD_UP_MS)) return false;
    const lastStallEndedAt = this.stalls.at(-1)?.endedAt ?? Number.NEGATIVE_INFINITY;
    return now - lastStallEndedAt >= RESPITE_MS || now - since >= limit + MAX_HELD_UP_MS + RESPITE_MS;
  }

  private rejectOverdue(limit: number, now: number): void {
    for (const queue of [this.connection.commandQueue, this.connection.offlineQueue]) {
      for (let index = 0; index < queue.length; index += 1) {
        const { command } = queue.peekAt(index)!;
        if (command.isSettled || !this.isOver(command.givenAt ?? now, limit, now)) continue;
        command.reject(new Error('Command timed out'));
      }
    }
  }

  private endSilent(stream: Redis['stream'], since: number, now: number): void {
    const bytes = stream.bytesRead;
    if (stream !== this.heard.stream) this.heard = { stream, bytes: 0, at: 0 };
    if (bytes !== this.heard.bytes) this.heard = { stream, bytes, at: now };
    if (!this.isOver(Math.max(since, this.heard.at), this.socketTimeout, now)) return;
    stream.destroy(new Error(`Socket timeout: no data within ${this.socketTimeout} ms, though a reply is owed.`));
  }
}

/** Milliseconds until a timeout; infinite without one, and once it has passed, when other conditions decide. */
function leftOf(since: number | undefined, limit: number | undefined, now: number): number {
  if (since === undefined || limit === undefined || since + limit <= now) return Number.POSITIVE_INFINITY;
  return Math.max(1, since + limit - now);
}

function isDoneHere(): void {
  // The polls of `ReplyWatch` replace this timer.
}
