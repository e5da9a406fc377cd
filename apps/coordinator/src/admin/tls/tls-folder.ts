import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

import { makeFolder } from '@vantage/settings';

import { issueCertificate, type Issued } from './certificate.ts';

/** Content of a certificate folder. */
export interface TlsMaterial {
  /** The certificate of the CA, PEM. */
  readonly ca: string;
  /** What this call created; empty if everything existed and was valid. */
  readonly made: readonly ('ca' | 'certificate')[];
  /** Every name and address in the certificate of Redis. */
  readonly hosts: readonly string[];
  readonly validUntil: Date;
}

export interface TlsOrder {
  /** Names and addresses of Redis; those of an existing certificate are kept. */
  readonly hosts: readonly string[];
  /** Issues the certificate of Redis again even if it is valid. */
  readonly renew?: boolean;
}

const CA_DAYS = 3_650;
/**
 * Validity of a server certificate, from its creation. With the day by which `notBefore` precedes it, these are the 825
 * days that some TLS clients accept at most.
 */
const SERVER_DAYS = 824;
const RENEW_BELOW_MS = 30 * 86_400_000;

/** The CA certificate of a folder; undefined if there is none. */
export function readCa(folder: string): string | undefined {
  return read(join(folder, 'ca', 'ca.crt'));
}

/**
 * Creates the CA for Redis, once, and issues the certificate of Redis unless there is one of this CA that fits its key,
 * has all hosts and lasts longer than `RENEW_BELOW_MS`; with `renew` in any case. Keys are readable by their owner
 * only. The key of the CA has a separate folder, because Redis does not need it, and may be kept elsewhere after a
 * certificate was issued.
 *
 * @throws if a certificate must be issued without the key of the CA, or if a file cannot be read or written
 */
export async function ensureTls(
  folder: string,
  { hosts, renew = false }: TlsOrder,
  now = new Date(),
): Promise<TlsMaterial> {
  const caFolder = join(folder, 'ca');
  const redisFolder = join(folder, 'redis');
  makeFolder(folder);
  makeFolder(caFolder, 0o700);
  // Other users must be able to read the CA certificate in this folder; the private key is readable by its owner only.
  if (makeFolder(redisFolder)) chmodSync(redisFolder, 0o755);

  const found = readCa(folder);
  if (found === undefined) {
    write(caFolder, 'ca', await issueCertificate({ commonName: 'Vantage CA', days: CA_DAYS }, now));
  }
  const ca = found ?? readCa(folder)!;
  writeFile(join(redisFolder, 'ca.crt'), ca, 0o644);

  const before = pair(redisFolder, 'redis');
  const old = before === undefined ? undefined : new X509Certificate(before.certificate);
  const wanted = [...new Set([...(old === undefined ? [] : hostsOf(old)), ...hosts])];
  const isGood =
    old !== undefined &&
    !renew &&
    // A renewal may have been interrupted between key and certificate.
    old.checkPrivateKey(createPrivateKey(before!.key)) &&
    old.verify(new X509Certificate(ca).publicKey) &&
    old.validToDate.getTime() - now.getTime() > RENEW_BELOW_MS &&
    hosts.every((host) => covers(old, host));
  const made = found === undefined ? (['ca'] as const) : [];
  if (isGood) return { ca, made, hosts: hostsOf(old), validUntil: old.validToDate };

  const caKey = read(join(caFolder, 'ca.key'));
  if (caKey === undefined)
    throw new Error(`a certificate has to be made, and ${join(caFolder, 'ca.key')} is not there`);
  const issuer = { certificate: ca, key: caKey };
  const issued = await issueCertificate(
    { commonName: 'Redis of Vantage', hosts: wanted, days: SERVER_DAYS, issuer },
    now,
  );
  write(redisFolder, 'redis', issued);
  const { validToDate } = new X509Certificate(issued.certificate);
  return { ca, made: [...made, 'certificate'], hosts: wanted, validUntil: validToDate };
}

function covers(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
}

/** Parses the names and addresses of a certificate, which Node writes as `DNS:a.example, IP Address:192.0.2.1`. */
function hostsOf({ subjectAltName }: X509Certificate): readonly string[] {
  return (subjectAltName ?? '').split(', ').flatMap((entry) => /^(?:DNS|IP Address):(\S+)$/.exec(entry)?.[1] ?? []);
}

function pair(folder: string, name: string): Issued | undefined {
  const certificate = read(join(folder, `${name}.crt`));
  const key = read(join(folder, `${name}.key`));
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

/**
 * Writes the key first: an interruption leaves no new certificate without its key. An interrupted renewal leaves the
 * old certificate with the new key, which the next call notices.
 */
function write(folder: string, name: string, { certificate, key }: Issued): void {
  writeFile(join(folder, `${name}.key`), key, 0o600);
  writeFile(join(folder, `${name}.crt`), certificate, 0o644);
}

/** Writes a file atomically: a Redis that starts meanwhile never reads a partial one. */
function writeFile(file: string, content: string, mode: number): void {
  if (read(file) === content) return;
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, content, { mode });
  // The umask restricts the mode of a created file.
  chmodSync(unfinished, mode);
  renameSync(unfinished, file);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (Error.isError(error) && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
