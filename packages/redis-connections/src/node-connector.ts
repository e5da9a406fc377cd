import { createConnection } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

import { AbstractConnector, type RedisOptions } from 'ioredis';

import type { RedisEndpoint } from './address.ts';

export type NodeStream = Awaited<ReturnType<AbstractConnector['connect']>>;

/**
 * Opens a connection to a node of a cluster. ioredis listens for the first error of a connection only, and TLS can
 * report another one after a certificate was refused: without a listener it would end the process.
 */
export function connectTo({ host, port }: RedisEndpoint, tls: ConnectionOptions | undefined): NodeStream {
  const stream = tls === undefined ? createConnection({ host, port }) : connectTls({ ...tls, host, port });
  return stream.on('error', () => undefined);
}

/**
 * Returns a connector of ioredis that connects to the given node of a cluster.
 *
 * @param onError called with the reason why a node is not reached: ioredis reports only that the connection is closed
 */
export function nodeConnector(
  onError: (error: Error) => void = () => undefined,
): NonNullable<RedisOptions['Connector']> {
  return class NodeConnector extends AbstractConnector {
    private readonly options: Pick<RedisOptions, 'host' | 'port' | 'tls'>;

    constructor(options: unknown) {
      super(2_000);
      this.options = options as RedisOptions;
    }

    override async connect(): Promise<NodeStream> {
      const { host = '', port = 0, tls } = this.options;
      this.connecting = true;
      const stream = connectTo({ host, port }, tls);
      this.stream = stream;
      stream.once('error', (error) => {
        this.firstError = error;
        onError(error);
      });
      return stream;
    }
  };
}
