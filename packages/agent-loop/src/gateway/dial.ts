import { GATEWAY_PATH, MAX_GATEWAY_MESSAGE_BYTES } from '@vantage/contract';
import { WebSocket } from 'ws';

import { proxyFault } from './connection-faults.ts';
import { isExcepted } from './proxy/no-proxy.ts';
import { TunnelAgent } from './proxy/tunnel-agent.ts';

export interface DialOptions {
  /** Base address of the service, `http:` or `https:`. */
  readonly url: string;
  /** CA certificates in PEM; without them those that Node trusts. */
  readonly certificates?: string | undefined;
  /** Proxy for `https:` addresses, with a login if it requires one, and the hosts that are reached without it. */
  readonly proxy?: { readonly url?: string | undefined; readonly except?: string | undefined } | undefined;
}

const HANDSHAKE_MS = 10_000;

/** Opens connections to the gateway; Node tries both address families. The certificate is always verified. */
export function createDial({ url, certificates, proxy }: DialOptions): () => WebSocket {
  const address = gatewayAddress(url);
  const proxyUrl = isExcepted(address, proxy?.except ?? '') ? undefined : proxy?.url;
  const agent =
    address.protocol === 'wss:'
      ? new TunnelAgent({
          ...(certificates === undefined ? {} : { ca: certificates }),
          rejectUnauthorized: true,
          proxyEnv: { HTTPS_PROXY: proxyUrl },
        })
      : undefined;
  return () => {
    const socket = new WebSocket(address, {
      agent,
      perMessageDeflate: false,
      followRedirects: false,
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_GATEWAY_MESSAGE_BYTES,
    });
    const connection = agent?.latest;
    socket.once('close', () => connection?.destroy());
    if (agent !== undefined && proxyUrl !== undefined) socket.prependListener('error', proxyFault);
    return socket;
  };
}

function gatewayAddress(base: string): URL {
  const address = new URL(base);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  address.pathname = `${address.pathname.replace(/\/$/, '')}${GATEWAY_PATH}`;
  return address;
}
