import type { Redis } from 'ioredis';

/** A look that comes this late was held up, and so was what it looks for. */
const HELD_UP_MS = 50;
/** Time in which the process stood still does not count, up to this. */
const MAX_HELD_UP_MS = 2_000;
/** What has come meanwhile, or comes as slowly, is given this long on top of it. */
const RESPITE_MS = 500;
/** Looks in the time after which a connection that hears nothing is dead. */
const LOOKS = 20;

interface OwedCommand {
  /** Monotonic. */
  sentAt?: number;
  setTimeout: (milliseconds: number) => void;
  readonly isSettled: boolean;
  readonly reject: (error: Error) => void;
}

/** The parts of a connection that tell what it is owed. */
interface Connection {
  readonly stream: Redis['stream'];
  readonly options: Pick<Redis['options'], 'commandTimeout' | 'socketTimeout'>;
  /** Oldest first. */
  readonly commandQueue: {
    readonly length: number;
    readonly peekAt: (index: number) => { readonly command: OwedCommand } | undefined;
  };
  sendCommand: Redis['sendCommand'];
  setSocketTimeout: () => void;
}

/** A time in which the process stood still. */
interface Stall {
  readonly endedAt: number;
  readonly milliseconds: number;
}

/**
 * Does what ioredis does for `commandTimeout` and `socketTimeout`, for a machine that may stand still: its own timers fire
 * before what lies in the socket is read. And with one timer a connection, which looks at what is owed while something is;
 * one for each command costs as much as the rest of it. A look is a twentieth of `socketTimeout` apart from the next.
 */
export function watchReplies(redis: Redis): void {
  const connection = redis as unknown as Connection;
  const { commandTimeout = Number.POSITIVE_INFINITY, socketTimeout } = connection.options;
  // Then ioredis does what there is to do.
  if (socketTimeout === undefined) return;
  const lookEveryMs = socketTimeout / LOOKS;
  let isWatching = false;
  let dueAt = 0;
  let stalls: Stall[] = [];
  let heard = { bytes: 0, at: 0 };

  const lookIn = (milliseconds: number, isAgain = false): void => {
    isWatching = true;
    dueAt = performance.now() + milliseconds;
    setTimeout(() => look(isAgain), milliseconds);
  };

  const look = (isAgain: boolean): void => {
    isWatching = false;
    if (connection.commandQueue.length === 0) {
      stalls = [];
      return;
    }
    const now = performance.now();
    if (now - dueAt >= HELD_UP_MS) {
      stalls = stalls.filter(({ endedAt }) => endedAt > now - socketTimeout - MAX_HELD_UP_MS - RESPITE_MS);
      stalls.push({ endedAt: now, milliseconds: now - dueAt });
      // What came meanwhile is read first.
      if (!isAgain) return lookIn(1, true);
    }
    const bytes = connection.stream.bytesRead;
    if (bytes !== heard.bytes) heard = { bytes, at: now };
    rejectOverdue(now);
    lookIn(lookEveryMs);
  };

  const isOver = (since: number, limit: number, now: number): boolean => {
    if (now - since < limit) return false;
    const heldUp = stalls.reduce((sum, { endedAt, milliseconds }) => sum + (endedAt > since ? milliseconds : 0), 0);
    return now - since >= limit + (heldUp === 0 ? 0 : Math.min(heldUp, MAX_HELD_UP_MS) + RESPITE_MS);
  };

  const rejectOverdue = (now: number): void => {
    const { commandQueue, stream } = connection;
    const oldest = commandQueue.peekAt(0)?.command.sentAt ?? now;
    for (let index = 0; index < commandQueue.length; index += 1) {
      const { command } = commandQueue.peekAt(index)!;
      if (!isOver(command.sentAt ?? now, commandTimeout, now)) break;
      if (!command.isSettled) command.reject(new Error('Command timed out'));
    }
    if (isOver(Math.max(oldest, heard.at), socketTimeout, now)) {
      stream.destroy(new Error(`Socket timeout: no data within ${socketTimeout} ms, though a reply is owed.`));
    }
  };

  const send = connection.sendCommand.bind(redis);
  connection.setSocketTimeout = isDoneHere;
  connection.sendCommand = (sent, stream) => {
    const command = sent as unknown as OwedCommand;
    command.setTimeout = isDoneHere;
    command.sentAt = performance.now();
    if (!isWatching) lookIn(lookEveryMs);
    return send(sent, stream);
  };
}

function isDoneHere(): void {
  // By the looks.
}
