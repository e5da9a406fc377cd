import { Redis, type Command } from 'ioredis';

import { patientTimers } from './patient-timers.ts';

/**
 * Sends all commands of one turn of the event loop in one write, in their order: a write is a system call that wakes
 * Redis, and both cost more than most commands. A reply that this process or its machine held up is not taken for none.
 */
export class TurnRedis extends Redis {
  static {
    Object.assign(this.prototype, { setSocketTimeout: patientTimers.ofConnection });
  }

  private corked = false;

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    if (this.status === 'ready' && !this.corked) {
      const socket = this.stream;
      this.corked = true;
      socket.cork();
      // After the promises that are settled already: what they lead to goes along.
      process.nextTick(() => {
        this.corked = false;
        socket.uncork();
      });
    }
    command.setTimeout = patientTimers.ofCommand;
    return super.sendCommand(command, stream);
  }
}
