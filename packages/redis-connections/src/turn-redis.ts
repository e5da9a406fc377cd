import { Redis, type Command } from 'ioredis';

/**
 * Sends the commands that promise callbacks issue in one turn of the event loop in one write, in order, to save system
 * calls here and in Redis.
 */
export class TurnRedis extends Redis {
  private corked = false;

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    if (this.status === 'ready' && !this.corked) {
      const socket = this.stream;
      this.corked = true;
      socket.cork();
      // From within a promise callback: Node runs this after the other pending ones, whose commands are thus included.
      process.nextTick(() => {
        this.corked = false;
        socket.uncork();
      });
    }
    return super.sendCommand(command, stream);
  }
}
