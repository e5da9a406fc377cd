import { connect } from 'node:net';

import type { RedisAddress, RedisEndpoint } from './address.ts';

const LISTEN_MS = 2_000;

/**
 * Why Redis closes connections that it has just accepted, as at `maxclients`. Redis sends the reason unasked and
 * closes, so a client that writes first may get EPIPE instead; with TLS it closes without a reason.
 *
 * @returns the reason; undefined if no server refuses connections
 */
export async function refusalOf({ endpoints, tls }: RedisAddress): Promise<string | undefined> {
  const each = await Promise.all(endpoints.map((endpoint) => listenTo(endpoint)));
  const said = each.find((text) => text?.startsWith('-'));
  if (said !== undefined) return said.slice(1).split('\r\n', 1)[0];
  return tls && each.includes('') ? 'it closes connections before TLS, as at its maxclients' : undefined;
}

/**
 * The bytes that the server sends before it closes the connection; undefined if it keeps it open, or cannot be reached.
 */
async function listenTo({ host, port }: RedisEndpoint): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let text = '';
  const socket = connect({ host, port });
  socket.setTimeout(LISTEN_MS, () => resolve(undefined));
  socket.on('data', (bytes) => (text += bytes.toString('latin1')));
  socket.once('error', () => resolve(text === '' ? undefined : text));
  socket.once('end', () => resolve(text));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
