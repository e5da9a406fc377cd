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

/**
 * The validity of the certificate that a TLS server presents. It is not verified: an expired one is accepted. No data
 * is sent after the handshake.
 *
 * @returns undefined if the connection or the TLS handshake fails, or makes no progress for five seconds
 */
export async function certificateOf(host: string, port: number): Promise<Validity | undefined> {
  const { promise, resolve } = Promise.withResolvers<Validity | undefined>();
  const socket = connect({ host, port, rejectUnauthorized: false, ...(isIP(host) === 0 ? { servername: host } : {}) });
  socket.setTimeout(CONNECT_MS, () => resolve(undefined));
  socket.once('error', () => resolve(undefined));
  socket.once('secureConnect', () => {
    const certificate = socket.getPeerX509Certificate();
    resolve(certificate && { validFrom: certificate.validFromDate, validTo: certificate.validToDate });
  });
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** The validity of that certificate of a PEM text which expires first; undefined if there is none. */
export function firstToEnd(pem: string): Validity | undefined {
  const each = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return each
    .map((one) => new X509Certificate(one))
    .map(({ validFromDate: validFrom, validToDate: validTo }) => ({ validFrom, validTo }))
    .toSorted((one, other) => one.validTo.getTime() - other.validTo.getTime())[0];
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
