import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key in PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateRequest {
  /** Subject in the form of `openssl -subj`. */
  readonly subject: string;
  /** Alternative names such as `DNS:example.org` or `IP:127.0.0.1`. */
  readonly names?: readonly string[];
  readonly ca?: boolean;
  /** Replaces the value of basicConstraints, for example by `CA:TRUE, pathlen:0`. */
  readonly constraints?: string;
  /** True for a certificate of version 1, which has no extensions. */
  readonly bare?: boolean;
  /** Start of the validity, in days from now. */
  readonly from?: number;
  readonly until?: number;
  /** Arguments of `openssl req -newkey`. */
  readonly key?: readonly string[];
  /** Uses the key of another certificate instead of a new one. */
  readonly keyOf?: Issued;
  readonly digest?: string;
  /** Additional extensions, as lines of an OpenSSL configuration. */
  readonly extensions?: readonly string[];
  /** Default: self-signed. */
  readonly issuer?: Issued;
}

export interface OcspRequest {
  readonly certificate: Issued;
  readonly issuer: Issued;
  /** The signer; by default the issuer. */
  readonly responder?: Issued;
  readonly revoked?: boolean;
  /** Reason of the revocation, as OpenSSL writes it; `keyCompromise` by default. */
  readonly reason?: string;
}

/** Issues certificates and OCSP responses with the machine's `openssl`. */
export interface CertificateMint {
  readonly issue: (request: CertificateRequest) => Issued;
  /** An OCSP response in DER, valid for a day from now. */
  readonly ocspResponse: (request: OcspRequest) => Buffer;
  readonly close: () => void;
}

export function opensslVersion(): string | null {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}

const EC_KEY = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

export function certificateMint(): CertificateMint {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-certificates-'));
  const path = (name: string): string => join(folder, name);
  const run = (...args: readonly string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore', cwd: folder });
  writeFileSync(path('index.txt'), '');
  writeFileSync(path('index.txt.attr'), 'unique_subject = no\n');
  writeFileSync(path('ca.cnf'), configuration);

  const issue = ({ subject, names, ca = false, from = -1, until = 90, ...request }: CertificateRequest): Issued => {
    const { key = EC_KEY, keyOf, digest = 'sha256', issuer, extensions: more = [], bare = false } = request;
    if (keyOf !== undefined) writeFileSync(path('new.key'), keyOf.key);
    const keyArguments = keyOf === undefined ? ['-newkey', ...key, '-keyout', 'new.key'] : ['-key', 'new.key'];
    run('req', '-new', '-utf8', '-nodes', ...keyArguments, '-out', 'new.csr', '-subj', subject);
    const { constraints = `CA:${ca ? 'TRUE' : 'FALSE'}` } = request;
    const extensions = [`basicConstraints = critical, ${constraints}`, ...more];
    if (names !== undefined) extensions.push('subjectAltName = @names', '[names]', ...names.map(numbered));
    writeFileSync(path('extensions.cnf'), `${extensions.join('\n')}\n`);
    if (issuer !== undefined) {
      writeFileSync(path('issuer.crt'), issuer.cert);
      writeFileSync(path('issuer.key'), issuer.key);
    }
    const signer =
      issuer === undefined ? ['-selfsign', '-keyfile', 'new.key'] : ['-cert', 'issuer.crt', '-keyfile', 'issuer.key'];
    const dates = ['-startdate', asn1Time(from), '-enddate', asn1Time(until)];
    const files = ['-in', 'new.csr', '-out', 'new.crt', ...(bare ? [] : ['-extfile', 'extensions.cnf'])];
    run('ca', '-batch', '-notext', '-config', 'ca.cnf', '-md', digest, ...signer, ...dates, ...files);
    return { cert: readFileSync(path('new.crt'), 'utf8'), key: readFileSync(path('new.key'), 'utf8') };
  };

  const ocspResponse = ({
    certificate,
    issuer,
    responder = issuer,
    revoked = false,
    reason = 'keyCompromise',
  }: OcspRequest): Buffer => {
    for (const [name, issued] of Object.entries({ certificate, issuer, responder })) {
      writeFileSync(path(`${name}.crt`), issued.cert);
      writeFileSync(path(`${name}.key`), issued.key);
    }
    const { serialNumber } = new X509Certificate(certificate.cert);
    const state = revoked ? ['R', '301231235959Z', `260101000000Z,${reason}`] : ['V', '301231235959Z', ''];
    writeFileSync(path('ocsp.txt'), `${[...state, serialNumber, 'unknown', '/CN=x'].join('\t')}\n`);
    const about = ['-index', 'ocsp.txt', '-CA', 'issuer.crt', '-issuer', 'issuer.crt', '-cert', 'certificate.crt'];
    const signer = ['-rsigner', 'responder.crt', '-rkey', 'responder.key', '-ndays', '1', '-noverify', '-no_nonce'];
    run('ocsp', ...about, ...signer, '-respout', 'response.der');
    return readFileSync(path('response.der'));
  };

  return { issue, ocspResponse, close: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A certificate with a public key of a non-existent kind: `id-ecPublicKey` with a different last arc. */
export function withUnreadableKey({ cert, key }: Issued): Issued {
  const der = Buffer.from(new X509Certificate(cert).raw);
  const keyType = Buffer.from('2a8648ce3d0201', 'hex');
  der[der.indexOf(keyType) + keyType.length - 1] = 0x7f;
  return { cert: pemOf(der), key };
}

/** A certificate with an invalid signature: its last bit is changed. */
export function withWrongSignature({ cert, key }: Issued): Issued {
  const der = Buffer.from(new X509Certificate(cert).raw);
  der[der.length - 1]! ^= 1;
  return { cert: pemOf(der), key };
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

/** An alternative name as a line of a separate section of the configuration, where it may contain a comma. */
function numbered(name: string, index: number): string {
  return name.replace(':', `.${index} = `);
}

/** A minimal configuration for `openssl ca`. */
const configuration = `
[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
rand_serial = yes
policy = any
[any]
countryName = optional
organizationName = optional
commonName = optional
`;

/** Formats a GeneralizedTime (RFC 5280 section 4.1.2.5.2). */
function asn1Time(daysFromNow: number): string {
  const time = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return `${time.slice(0, 19).replaceAll(/[-T:]/g, '')}Z`;
}
