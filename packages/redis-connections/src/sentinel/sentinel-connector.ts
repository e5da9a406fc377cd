import { SentinelConnector, type Redis, type RedisOptions } from 'ioredis';

import type { NodeStream } from '../node-connector.ts';

type Emit = (type: string, error: Error) => void;

interface Internals {
  connectToSentinel: (...given: readonly unknown[]) => Redis;
}

/** Why no Sentinel could be asked for the master. */
export class SentinelsUnusable extends Error {
  override readonly name = 'SentinelsUnusable';

  constructor(cause: Error) {
    super(`no Sentinel can be asked: ${cause.message}`, { cause });
  }
}

/**
 * Asks the Sentinels for the master, as ioredis does, and keeps the reason why one could not be asked: ioredis says
 * only that the connection to it is closed.
 */
export const sentinelConnector: NonNullable<RedisOptions['Connector']> = class extends SentinelConnector {
  private why: Error | undefined;

  constructor(options: unknown) {
    super(options as ConstructorParameters<typeof SentinelConnector>[0]);
    const internals = this as unknown as Internals;
    const open = internals.connectToSentinel.bind(this);
    internals.connectToSentinel = (...given) => {
      this.why = undefined;
      return open(...given).on('error', (error: Error) => (this.why ??= error));
    };
  }

  override connect(emit: Emit): Promise<NodeStream> {
    return super.connect((type, error) => {
      const { why } = this;
      emit(type, type === 'error' && why !== undefined ? new SentinelsUnusable(why) : error);
    });
  }
};
