import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';

import { error, ok, warning, type DoctorFinding } from './finding.ts';

const DAY_MS = 86_400_000;
const CONNECT_MS = 5_000;

/** Validity period of a certificate. */
export interface Validity {
  readonly validFrom: Date;
  readonly validTo: Date;
}

interface Presented extends Validity {
  readonly certificate: X509Certificate;
}

/**
 * The certificate that a TLS server presents, and its validity. It is not verified: an expired one is accepted. No data
 * is sent after the handshake.
 *
 * @returns undefined if the connection or the TLS handshake fails, or makes no progress for five seconds
 */
export async function certificateOf(host: string, port: number): Promise<Presented | undefined> {
  const { promise, resolve } = Promise.withResolvers<Presented | undefined>();
  const socket = connect({ host, port, rejectUnauthorized: false, ...(isIP(host) === 0 ? { servername: host } : {}) });
  socket.setTimeout(CONNECT_MS, () => resolve(undefined));
  socket.once('error', () => resolve(undefined));
  socket.once('secureConnect', () => {
    const certificate = socket.getPeerX509Certificate();
    resolve(certificate && { validFrom: certificate.validFromDate, validTo: certificate.validToDate, certificate });
  });
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/**
 * The validity of the CA in use that expires first; undefined if the PEM text has no certificate. During a change of CA
 * the text has the old one too. In use are the issuers of the certificates that the servers present; if there are none,
 * the valid CAs; if there are none, all.
 */
export function caInUse(pem: string, presented: readonly X509Certificate[], now = new Date()): Validity | undefined {
  const each = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const all = each.map((one) => new X509Certificate(one));
  const valid = all.filter(({ validFromDate, validToDate }) => validFromDate <= now && now <= validToDate);
  const known = valid.length > 0 ? valid : all;
  // A CA may have been renewed with the same key: the certificate that ends last counts.
  const issuers = presented.flatMap((one) =>
    known
      .filter((ca) => one.checkIssued(ca))
      .toSorted(byEnd)
      .slice(-1),
  );
  const [first] = (issuers.length > 0 ? issuers : known).toSorted(byEnd);
  return first && { validFrom: first.validFromDate, validTo: first.validToDate };
}

function byEnd(one: X509Certificate, other: X509Certificate): number {
  return one.validToDate.getTime() - other.validToDate.getTime();
}

/** @param name as in "The certificate of Redis" */
export function checkValidity(
  check: string,
  name: string,
  { validFrom, validTo }: Validity,
  { warnDays, remedy, now = new Date() }: { readonly warnDays: number; readonly remedy: string; readonly now?: Date },
): DoctorFinding {
  const days = Math.floor((validTo.getTime() - now.getTime()) / DAY_MS);
  const date = validTo.toISOString().slice(0, 10);
  if (validFrom > now) {
    const message = `${name} is not valid before ${validFrom.toISOString()}, and this machine has ${now.toISOString()}.`;
    return error(check, message, `Compare the clocks. ${remedy}`);
  }
  if (days < 0) return error(check, `${name} expired on ${date}.`, remedy);
  const message = `${name} is valid until ${date}, ${days} more days.`;
  return days < warnDays ? warning(check, message, remedy) : ok(check, message);
}
