import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';

import { ensureTls } from '../../apps/coordinator/src/admin/tls/tls-folder.ts';
import { openLink, type Link } from './link.ts';

/** The service URL of agents at a gateway. Their proxies choose the gateway, so nothing listens at this address. */
export const GATEWAY_URL = 'https://127.0.0.1:1';

/** The connection of one agent to the gateways: an HTTP proxy, then TLS termination and a choice of coordinators. */
export interface GatewayLine extends Link {
  /** The coordinator to which the newest connection leads; undefined before the first one. */
  readonly gateway: () => string | undefined;
}

export interface TlsEnd {
  readonly caFile: string;
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** Creates a CA and its certificate for the host of `GATEWAY_URL`. */
export async function makeTlsEnd(folder: string): Promise<TlsEnd> {
  await ensureTls(folder, { hosts: [new URL(GATEWAY_URL).hostname] });
  const file = (name: string): string => join(folder, 'redis', name);
  return { caFile: file('ca.crt'), key: readFileSync(file('redis.key')), cert: readFileSync(file('redis.crt')) };
}

/** @param urls of the coordinators; each connection goes to the next one that accepts it, as with a load balancer */
export async function openGatewayLine(
  urls: readonly string[],
  first: number,
  end: Pick<TlsEnd, 'key' | 'cert'>,
): Promise<GatewayLine> {
  let next = first;
  let gateway: string | undefined;
  const connectToAny = async (): Promise<Socket | undefined> => {
    for (let attempt = 0; attempt < urls.length; attempt += 1) {
      const url = urls[next % urls.length]!;
      next += 1;
      const upstream = connect(Number(new URL(url).port), '127.0.0.1');
      const isConnected = await once(upstream, 'connect').then(
        () => true,
        () => false,
      );
      if (!isConnected) continue;
      gateway = url;
      return upstream;
    }
    return undefined;
  };
  const link = await openLink(async (client) => {
    await readRequest(client);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const upstream = await connectToAny();
    return upstream && { client: new TLSSocket(client, { isServer: true, ...end }), upstream };
  });
  return { ...link, gateway: () => gateway };
}

/** Reads a CONNECT; the client sends nothing after it before the response. */
async function readRequest(client: Socket): Promise<void> {
  let text = '';
  while (!text.endsWith('\r\n\r\n')) {
    const [chunk] = (await once(client, 'data')) as [Buffer];
    text += chunk.toString('latin1');
  }
  client.pause();
}
