import { isIPv4 } from 'node:net';

import { addressesToRefuse } from './addresses-to-refuse.ts';
import type { HostileInput } from './hostile-input.ts';
import { spellings, names, texts, urls } from './hostile-hosts.ts';
import { ports, options } from './hostile-fields.ts';

interface TargetInput extends HostileInput {
  readonly body: { readonly type: string; readonly host: string; readonly port?: number; readonly options?: object };
}

/**
 * Inputs that the coordinator can refuse without resolving a name: targets in every field that names one, ports,
 * options, DNS questions and bodies that are none.
 */
export function hostileInputs(): readonly HostileInput[] {
  const addresses = addressesToRefuse();
  return [
    ...addresses.flatMap((address) => asTarget(`the address ${address}`, address)),
    ...addresses.filter(isIPv4).flatMap((address) => spellings(address)),
    ...names().flatMap((name) => asTarget(`the name ${name}`, name)),
    // With a path appended, some of these texts would be valid URLs.
    ...texts.flatMap((text) => asTarget('a text that is no host', text).filter(({ body }) => body.type !== 'http')),
    ...urls.map((host) => ({ why: 'a URL that is none', body: { type: 'http', host } })),
    ...ports(),
    ...options(),
  ];
}

function asTarget(why: string, host: string): readonly TargetInput[] {
  const inUrl = host.includes(':') ? `[${host}]` : host;
  return [
    { why: `${why} by ping`, body: { type: 'ping', host } },
    { why: `${why} by tcp`, body: { type: 'tcp', host, port: 443 } },
    { why: `${why} by udp`, body: { type: 'udp', host, port: 33_434 } },
    { why: `${why} by traceroute`, body: { type: 'traceroute', host } },
    { why: `${why} by info`, body: { type: 'info', host } },
    { why: `${why} by http`, body: { type: 'http', host: `http://${inUrl}/` } },
    { why: `${why} by https`, body: { type: 'http', host: `https://${inUrl}:8443/a?b` } },
    { why: `${why} as resolver`, body: { type: 'dns', host: 'example.com', options: { resolver: host } } },
  ];
}
