import { createConnection, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

import { AbstractConnector, type RedisOptions } from 'ioredis';

import type { RedisEndpoint } from './address.ts';

export type NodeStream = Awaited<ReturnType<AbstractConnector['connect']>>;

/** Size of the buffer into which a connection reads; only the pages that replies have filled are in memory. */
const READ_BYTES = 65_536;

/**
 * Opens a TCP connection that reads into one buffer and passes copies on. A stream would allocate 64 KiB for each read,
 * and queue what it has read.
 */
function openTcp({ host, port }: RedisEndpoint): Socket {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (bytes: number): boolean => {
    socket.emit('data', Buffer.from(buffer.subarray(0, bytes)));
    return true;
  };
  const socket = createConnection({ host, port, onread: { buffer, callback } });
  return socket;
}

/**
 * Opens a connection to a server, such as a node of a cluster. ioredis listens for the first error of a connection
 * only, and TLS can report another one after a certificate was refused: without a listener it would end the process.
 */
export function connectTo({ host, port }: RedisEndpoint, tls: ConnectionOptions | undefined): NodeStream {
  const stream = tls === undefined ? openTcp({ host, port }) : connectTls({ ...tls, host, port });
  return stream.on('error', () => undefined);
}

/**
 * Returns a connector of ioredis that connects to the given server, such as a node of a cluster.
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
