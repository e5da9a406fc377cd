import type { Command, Redis } from 'ioredis';

import { afterPatience } from './patience.ts';

/** The parts of a command that its timer is kept in; ioredis clears it when the command is settled. */
interface TimedCommand {
  _commandTimeoutTimer?: NodeJS.Timeout | undefined;
  readonly isSettled: boolean;
  readonly reject: (error: Error) => void;
}

/** The parts of a connection that its timer is kept in; ioredis clears it when the connection closes. */
interface TimedConnection {
  socketTimeoutTimer?: NodeJS.Timeout | undefined;
  readonly setSocketTimeout: () => void;
  readonly stream: Redis['stream'];
  readonly commandQueue: { readonly length: number };
  readonly options: { readonly socketTimeout?: number };
}

/**
 * The timers of ioredis, that of a command and that of a connection which owes a reply, for a machine that may stand still:
 * by themselves they fire before what lies in the socket is read.
 */
export const patientTimers = { ofCommand: timeOutPatiently, ofConnection: setSocketTimeoutPatiently } as const;

/** Gives a connection that somebody else has made these timers. */
export function makePatient(redis: Redis): void {
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    command.setTimeout = timeOutPatiently;
    return send(command, stream);
  };
  Object.assign(redis, { setSocketTimeout: setSocketTimeoutPatiently });
}

function timeOutPatiently(this: Command, milliseconds: number): void {
  const command = this as unknown as TimedCommand;
  if (command._commandTimeoutTimer !== undefined) return;
  afterPatience(
    milliseconds,
    () => {
      if (!command.isSettled) command.reject(new Error('Command timed out'));
    },
    (timer) => {
      command._commandTimeoutTimer = timer;
    },
  );
}

/** As ioredis does it, but for the timer. */
function setSocketTimeoutPatiently(this: TimedConnection): void {
  const { stream } = this;
  const { socketTimeout = 0 } = this.options;
  afterPatience(
    socketTimeout,
    () => {
      stream.destroy(new Error(`Socket timeout: no data within ${socketTimeout} ms, though a reply is owed.`));
      this.socketTimeoutTimer = undefined;
    },
    (timer) => {
      this.socketTimeoutTimer = timer;
    },
  );
  stream.once('data', () => {
    clearTimeout(this.socketTimeoutTimer);
    this.socketTimeoutTimer = undefined;
    if (this.commandQueue.length > 0) this.setSocketTimeout();
  });
}
