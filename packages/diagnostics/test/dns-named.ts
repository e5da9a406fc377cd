import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { freeServerPort, startDaemon, temporaryFolder } from '@vantage/test-support/daemon';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { dig } from '@vantage/test-support/dns/dig';
import type { Certificate } from '@vantage/test-support/dns/server';

/** A validating resolver (BIND) on loopback, over UDP, TCP, TLS and HTTPS. */
export interface Named {
  readonly port: number;
  readonly tlsPort: number;
  readonly httpsPort: number;
  readonly stop: () => Promise<void>;
}

export interface TrustedZone {
  readonly zone: string;
  /** The DNSKEY that it trusts (`257 3 13 …`); null: the zone is not to be validated. */
  readonly key: string | null;
}

export interface NamedOptions {
  /** Port on 127.0.0.1 of the name server that it queries about `zones`. */
  readonly authorityPort: number;
  readonly zones: readonly TrustedZone[];
  readonly certificate: Certificate;
  /** Seconds for which it keeps a failure of name servers in its cache; default 1. */
  readonly servfailTtl?: number | undefined;
}

export async function startNamed(options: NamedOptions): Promise<Named> {
  const packages = await unpackPackages('bind9');
  const folder = await temporaryFolder();
  const [port, tlsPort, httpsPort] = [await freeServerPort(), await freeServerPort(), await freeServerPort()];
  const file = join(folder.path, 'named.conf');
  await writeFile(join(folder.path, 'certificate.pem'), options.certificate.cert);
  await writeFile(join(folder.path, 'key.pem'), options.certificate.key);
  await writeFile(file, configuration(folder.path, { port, tlsPort, httpsPort }, options));
  const isReady = async (): Promise<boolean> => {
    const [answer] = await dig(port, [[options.zones[0]!.zone, 'SOA']]);
    return answer?.rcode === 'NOERROR';
  };
  const daemon = await startDaemon(packages, 'named', ['-g', '-n', '1', '-c', file], isReady);
  const stop = async (): Promise<void> => {
    await daemon.stop();
    await folder.remove();
  };
  return { port, tlsPort, httpsPort, stop };
}

function configuration(
  folder: string,
  { port, tlsPort, httpsPort }: Omit<Named, 'stop'>,
  { authorityPort, zones, servfailTtl = 1 }: NamedOptions,
): string {
  const anchors = zones.flatMap(({ zone, key }) => {
    if (key === null) return [];
    const [flags, protocol, algorithm, ...base64] = key.split(' ');
    return [`  "${zone}" static-key ${flags} ${protocol} ${algorithm} "${base64.join('')}";`];
  });
  // The root is included, so that only servers on loopback are queried.
  return `
tls local { cert-file "${folder}/certificate.pem"; key-file "${folder}/key.pem"; };
options {
  directory "${folder}";
  pid-file "${folder}/named.pid";
  session-keyfile "${folder}/session.key";
  lock-file none;
  listen-on port ${port} { 127.0.0.1; };
  listen-on port ${tlsPort} tls local { 127.0.0.1; };
  listen-on port ${httpsPort} tls local http default { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion yes;
  allow-query { any; };
  dnssec-validation yes;
  empty-zones-enable no;
  minimal-responses no;
  qname-minimization off;
  servfail-ttl ${servfailTtl};
};
controls { };
trust-anchors {
${anchors.join('\n')}
};
${[...zones.map(({ zone }) => zone), '.'].map((zone) => `zone "${zone}" { type forward; forward only; forwarders { 127.0.0.1 port ${authorityPort}; }; };`).join('\n')}
`;
}
