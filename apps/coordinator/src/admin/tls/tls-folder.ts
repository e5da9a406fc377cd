import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

import { issueCertificate, type Issued } from './certificate.ts';

/** What a folder of certificates came to. */
export interface TlsMaterial {
  /** The certificate of the CA, PEM. */
  readonly ca: string;
  /** What was made by this call; nothing where all was there and good. */
  readonly made: readonly ('ca' | 'certificate')[];
  /** Every name and address in the certificate of Redis. */
  readonly hosts: readonly string[];
  readonly validUntil: Date;
}

export interface TlsOrder {
  /** Names and addresses by which Redis is reached; those of a certificate that is there stay in it. */
  readonly hosts: readonly string[];
  /** Makes the certificate of Redis anew though the one that is there is good. */
  readonly renew?: boolean;
}

const CA_DAYS = 3_650;
/** 825 days is the longest that TLS clients of every kind accept; it begins a day before it is made. */
const SERVER_DAYS = 824;
const RENEW_BELOW_MS = 30 * 86_400_000;

/** The CA's certificate of a folder, or undefined where it has none yet. */
export function readCa(folder: string): string | undefined {
  return read(join(folder, 'ca', 'ca.crt'));
}

/**
 * Makes the CA of the agents' Redis, once, and the certificate of Redis, where there is none, where it does not have one of
 * the hosts, or where it ends soon. Keys are readable by their owner alone. The key of the CA is in a folder of its own:
 * Redis needs the other one, and once there is a certificate the key of the CA may be kept elsewhere.
 *
 * @throws when a certificate has to be made and the key of the CA is not there, or when a file cannot be read or written
 */
export async function ensureTls(
  folder: string,
  { hosts, renew = false }: TlsOrder,
  now = new Date(),
): Promise<TlsMaterial> {
  const caFolder = join(folder, 'ca');
  const redisFolder = join(folder, 'redis');
  mkdirSync(folder, { recursive: true });
  mkdirSync(caFolder, { recursive: true, mode: 0o700 });
  // The coordinator and others read the CA in it; the key beside it is its owner's.
  if (mkdirSync(redisFolder, { recursive: true }) !== undefined) chmodSync(redisFolder, 0o755);

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
    // Between the two of a renewal the program may have died.
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

/** Node writes them as `DNS:a.example, IP Address:192.0.2.1`. */
function hostsOf({ subjectAltName }: X509Certificate): readonly string[] {
  return (subjectAltName ?? '').split(', ').flatMap((entry) => /^(?:DNS|IP Address):(\S+)$/.exec(entry)?.[1] ?? []);
}

function pair(folder: string, name: string): Issued | undefined {
  const certificate = read(join(folder, `${name}.crt`));
  const key = read(join(folder, `${name}.key`));
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

/** The key first: what has a certificate has its key. */
function write(folder: string, name: string, { certificate, key }: Issued): void {
  writeFile(join(folder, `${name}.key`), key, 0o600);
  writeFile(join(folder, `${name}.crt`), certificate, 0o644);
}

/** Whole or not at all: a Redis that starts meanwhile reads no half of it. */
function writeFile(file: string, content: string, mode: number): void {
  if (read(file) === content) return;
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, content, { mode });
  // The mode of a file that is made is cut by the umask.
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
