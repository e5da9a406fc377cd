import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';

/**
 * Time for the tunnel of a proxy and the TLS handshake within it: shorter than that of a WebSocket handshake, whose
 * error does not name the proxy.
 */
const WITHIN_MS = 9_000;
const TOO_LATE = `no TLS connection to the service through the proxy (HTTPS_PROXY) within ${WITHIN_MS / 1_000} s`;

/**
 * Node neither limits the time of the TLS handshake within the tunnel of a proxy, nor closes the connection to a proxy
 * when a request ends before that handshake.
 */
export class TunnelAgent extends Agent {
  /** The connection of the latest request: to the proxy, if it takes one. */
  latest: Duplex | undefined;

  override createConnection(
    options: Parameters<Agent['createConnection']>[0],
    callback: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const connection = super.createConnection(options, callback);
    if (connection) {
      this.latest = connection;
      // Only the first call of `callback` has an effect. Without a proxy, Node calls it as soon as this method returns.
      const timer = setTimeout(() => callback(new Error(TOO_LATE), connection), WITHIN_MS);
      connection.once('close', () => clearTimeout(timer));
      timer.unref();
    }
    return connection;
  }
}
