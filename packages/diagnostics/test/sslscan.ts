import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { checkOf } from './http.ts';
import type { DigQuery } from './second-opinions.ts';

/** sslscan's report of a server's protocols and certificate. */
export interface Scan {
  readonly version: string;
  readonly commonName: string | null;
  readonly issuer: string | null;
  readonly names: readonly string[];
  readonly signature: string | null;
  /** Null for a kind that sslscan does not know. */
  readonly key: string | null;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly selfSigned: boolean;
  readonly expired: boolean;
}

const run = promisify(execFile);

const pss = 'sslscan does not name the hash of RSASSA-PSS, by which the check calls a signature weak';
const key = 'sslscan knows no key of this kind';

/** What sslscan says otherwise than the check of a server of the corpus, with the reasons. */
export const sslscanDifferences: Readonly<Record<string, { readonly said: Partial<Scan>; readonly why: string }>> = {
  'weak-leaf-pss-sha1': { said: { signature: 'rsassaPss' }, why: pss },
  'authority-rsa-pss': { said: { signature: 'rsassaPss' }, why: pss },
  'key-ed25519': { said: { key: null }, why: key },
  'key-ed448': { said: { key: null }, why: key },
  'key-rsa-pss': { said: { key: null }, why: key },
};

/** Bits of curves by sslscan's names: sslscan prints the bits of their strength instead. */
const curveBits: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

/** Skipped scans: each needs another connection. */
const UNASKED = ['ciphersuites', 'heartbleed', 'renegotiation', 'compression', 'fallback', 'groups'];

/** @param version `1.2` or `1.3`, the only one to scan */
export async function sslscan(program: string, { host, port }: DigQuery, version: string): Promise<Scan> {
  const only = [`--tls${version.replace('.', '')}`, ...UNASKED.map((name) => `--no-${name}`), '--no-colour'];
  const { stdout } = await run(program, [...only, '--xml=-', `--sni-name=${host}`, `127.0.0.1:${port}`]);
  const found = (tag: string): string | null =>
    new RegExp(`<${tag}>(?:<!\\[CDATA\\[)?([^<\\]]*)`).exec(stdout)?.[1] ?? null;
  const dateOf = (tag: string): string => new Date(found(tag)!).toISOString();
  const versions = [...stdout.matchAll(/<protocol type="tls" version="([\d.]+)" enabled="1"/g)].map(([, name]) => name);
  return {
    version: `TLSv${versions.join('+')}`,
    commonName: found('subject'),
    issuer: found('issuer'),
    names: found('altnames')?.split(', ') ?? [],
    signature: found('signature-algorithm'),
    key: keyOf(/<pk [^>]*>/.exec(stdout)?.[0] ?? ''),
    validFrom: dateOf('not-valid-before'),
    validUntil: dateOf('not-valid-after'),
    selfSigned: found('self-signed') === 'true',
    expired: found('expired') === 'true',
  };
}

/** The result of a check in the form of a scan. */
export function scanOf({ tls }: Awaited<ReturnType<typeof checkOf>>): Scan {
  const [leaf] = tls!.chain;
  const { subject, issuer, subjectAltNames, signatureAlgorithm, keyType, keyBits, validFrom, validUntil } = leaf!;
  return {
    version: tls!.protocol,
    commonName: commonNameOf(subject),
    issuer: commonNameOf(issuer),
    names: subjectAltNames,
    signature: signatureAlgorithm ?? null,
    key: `${keyType} ${keyBits}`,
    validFrom,
    validUntil,
    selfSigned: subject === issuer,
    expired: (tls!.faults ?? []).some(({ code, certificate }) => code === 'tls_expired' && certificate === 0),
  };
}

function commonNameOf(name: string): string | null {
  return /(?:^|, )CN=([^,]*)/.exec(name)?.[1] ?? null;
}

function keyOf(element: string): string | null {
  const attribute = (name: string): string | undefined => new RegExp(` ${name}="(\\w+)"`).exec(element)?.[1];
  if (attribute('error') === 'true') return null;
  const curve = attribute('curve_name');
  const bits = curve === undefined ? attribute('bits') : curveBits[curve];
  return `${attribute('type')?.toLowerCase()} ${bits}`;
}
