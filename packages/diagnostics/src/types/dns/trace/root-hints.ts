import type { DelegatedServer } from './zones.ts';

/** The root name servers (IANA root hints, file of 2024 and later: b.root-servers.net moved in November 2023). */
export const rootHints: readonly DelegatedServer[] = [
  root('a', '198.41.0.4', '2001:503:ba3e::2:30'),
  root('b', '170.247.170.2', '2801:1b8:10::b'),
  root('c', '192.33.4.12', '2001:500:2::c'),
  root('d', '199.7.91.13', '2001:500:2d::d'),
  root('e', '192.203.230.10', '2001:500:a8::e'),
  root('f', '192.5.5.241', '2001:500:2f::f'),
  root('g', '192.112.36.4', '2001:500:12::d0d'),
  root('h', '198.97.190.53', '2001:500:1::53'),
  root('i', '192.36.148.17', '2001:7fe::53'),
  root('j', '192.58.128.30', '2001:503:c27::2:30'),
  root('k', '193.0.14.129', '2001:7fd::1'),
  root('l', '199.7.83.42', '2001:500:9f::42'),
  root('m', '202.12.27.33', '2001:dc3::35'),
];

function root(letter: string, ...addresses: readonly string[]): DelegatedServer {
  return { name: `${letter}.root-servers.net.`, addresses };
}
