import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

import { addressText, mappedIpv4, readAddress } from '@vantage/contract/address';
import type { Express, Request, RequestHandler } from 'express';

import { HttpProblem } from './problem.ts';

/** Field of `response.locals` with the address, once it is known. */
const ADDRESS = 'clientAddress';

/**
 * The client's address: that of the socket, or from `X-Forwarded-For` of trusted proxies. Canonical text without a
 * zone; an IPv4-mapped address becomes IPv4.
 *
 * @throws HttpProblem 400 if a proxy passed on an invalid address, or the socket has none any more
 */
export function clientAddress(request: Request): string {
  const { locals } = request.res!;
  // Kept, because it is needed several times per request, and Express evaluates the header each time.
  const address = (locals[ADDRESS] ??= canonicalAddress(request.ip ?? '')) as string | undefined;
  if (address !== undefined) return address;
  throw new HttpProblem('invalid-http', 'The address of the caller in X-Forwarded-For is not an IP address.');
}

/**
 * The address of the client of a request that Express does not process, or has not processed yet.
 *
 * @returns undefined if a proxy passed on an invalid address, or the socket has none any more
 */
export function unprocessedAddress(app: Express, { headers, socket }: IncomingMessage): string | undefined {
  const { 'x-forwarded-for': forwarded } = headers;
  const without = typeof forwarded === 'string' ? forwarded.split(',').map(withoutPort).join(',') : undefined;
  const view = Object.create(app.request, {
    headers: { value: { ...headers, 'x-forwarded-for': without } },
    socket: { value: socket },
    connection: { value: socket },
  }) as Request;
  return canonicalAddress(view.ip ?? '');
}

/**
 * Removes the ports that some proxies add to the addresses of `X-Forwarded-For`: `203.0.113.9:4711`,
 * `[2001:db8::1]:4711`.
 */
export const dropForwardedPorts: RequestHandler = (request, _response, next) => {
  const { 'x-forwarded-for': forwarded } = request.headers;
  if (typeof forwarded === 'string') {
    request.headers['x-forwarded-for'] = forwarded.split(',').map(withoutPort).join(',');
  }
  next();
};

function withoutPort(text: string): string {
  const [, ipv4 = '', ipv6 = '', port] = /^\s*(?:([\d.]+)|\[([\da-f:.]+)\]):(\d{1,5})\s*$/i.exec(text) ?? [];
  const isPort = Number(port) >= 1 && Number(port) <= 65_535;
  return isPort && (isIP(ipv4) === 4 || isIP(ipv6) === 6) ? ipv4 || ipv6 : text;
}

/**
 * Canonical text of an address without a zone (RFC 5952 for IPv6; an IPv4-mapped address becomes IPv4); undefined for
 * any other text.
 */
export function canonicalAddress(text: string): string | undefined {
  const [withoutZone = ''] = text.split('%', 1);
  const bytes = readAddress(withoutZone);
  if (bytes === undefined) return undefined;
  // Only IPv6 addresses have zones (RFC 4007).
  if (bytes.length === 4) return text === withoutZone ? text : undefined;
  return addressText(mappedIpv4(bytes) ?? bytes);
}

/** The setting `trust proxy` of Express, which refuses a network of all addresses: it gets both halves of one. */
export function trustProxy(trusted: number | readonly string[] | undefined): number | string[] | false {
  if (trusted === undefined) return false;
  if (typeof trusted === 'number') return trusted;
  return trusted.flatMap((network) => {
    if (!/\/0+$/.test(network)) return [network];
    return network.includes(':') ? ['::/1', '8000::/1'] : ['0.0.0.0/1', '128.0.0.0/1'];
  });
}
