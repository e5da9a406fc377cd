import { gauge, type Sample } from './families.ts';
import type { SparseResultOf } from './result.ts';

type Tls = NonNullable<SparseResultOf<'http'>['tls']>;

/** Go's zero time, in Unix seconds. */
const ZERO_TIME = -62_135_596_800;

/** @param insecure true if the certificate was not required to be valid: then Go verifies no chain */
export function certificateSeries(tls: Tls, insecure: boolean): readonly Sample[] {
  const [leaf] = tls.chain;
  const sent = tls.chain.slice(0, tls.sentCertificates ?? tls.chain.length);
  const version = tls.protocol.replace(/^TLSv(1)$/, 'TLSv1.0').replace('TLSv', 'TLS ');
  return [
    gauge('probe_ssl_earliest_cert_expiry', earliest(sent)),
    gauge('probe_tls_version_info', 1, { version }),
    gauge(
      'probe_ssl_last_chain_expiry_timestamp_seconds',
      insecure || !tls.authorized ? ZERO_TIME : earliest(tls.chain),
    ),
    ...(leaf === undefined
      ? []
      : [
          gauge('probe_ssl_last_chain_info', 1, {
            fingerprint_sha256: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
            issuer: goName(leaf.issuer),
            subject: goName(leaf.subject),
            subjectalternative: leaf.subjectAltNames
              .filter((name) => name.startsWith('DNS:'))
              .map((name) => name.slice('DNS:'.length))
              .join(','),
          }),
        ]),
  ];
}

function earliest(chain: Tls['chain']): number {
  const times = chain
    .map(({ validUntil }) => Date.parse(validUntil ?? '') / 1_000)
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? ZERO_TIME : Math.min(...times);
}

/** The attributes that Go's `pkix.Name` writes, in its order. */
const GO_ORDER = ['serialNumber', 'CN', 'postalCode', 'street', 'ST', 'L', 'OU', 'O', 'C'];
const GO_NAMES: Readonly<Record<string, string>> = {
  serialNumber: 'SERIALNUMBER',
  postalCode: 'POSTALCODE',
  street: 'STREET',
};

/**
 * A distinguished name in Go's format: a fixed order of attributes, several values of one joined by `+`. Values stay as
 * Node has escaped them.
 */
function goName(name: string): string {
  const parts = name.split(/, (?=[A-Za-z][A-Za-z0-9.]*=)/).map((part) => {
    const at = part.indexOf('=');
    return { type: part.slice(0, at), value: part.slice(at + 1) };
  });
  return GO_ORDER.flatMap((type) => {
    const values = parts.filter((part) => part.type === type).map(({ value }) => `${GO_NAMES[type] ?? type}=${value}`);
    return values.length === 0 ? [] : [values.join('+')];
  }).join(',');
}
