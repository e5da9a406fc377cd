import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key in PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateRequest {
  /** As `openssl -subj` takes it. */
  readonly subject: string;
  /** Alternative names such as `DNS:example.org` or `IP:127.0.0.1`. */
  readonly names?: readonly string[];
  readonly ca?: boolean;
  /** Days from now. */
  readonly from?: number;
  readonly until?: number;
  /** Arguments of `openssl req -newkey` and what belongs to it. */
  readonly key?: readonly string[];
  readonly digest?: string;
  /** Absent: it signs itself. */
  readonly issuer?: Issued;
}

/** A certificate authority made for one test file, by the `openssl` of the machine. */
export interface CertificateMint {
  readonly issue: (request: CertificateRequest) => Issued;
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
    const { key = EC_KEY, digest = 'sha256', issuer } = request;
    run('req', '-new', '-utf8', '-nodes', '-newkey', ...key, '-keyout', 'new.key', '-out', 'new.csr', '-subj', subject);
    const extensions = [`basicConstraints = critical, CA:${ca ? 'TRUE' : 'FALSE'}`];
    if (names !== undefined) extensions.push('subjectAltName = @names', '[names]', ...names.map(numbered));
    writeFileSync(path('extensions.cnf'), `${extensions.join('\n')}\n`);
    if (issuer !== undefined) {
      writeFileSync(path('issuer.crt'), issuer.cert);
      writeFileSync(path('issuer.key'), issuer.key);
    }
    const signer =
      issuer === undefined ? ['-selfsign', '-keyfile', 'new.key'] : ['-cert', 'issuer.crt', '-keyfile', 'issuer.key'];
    const dates = ['-startdate', asn1Time(from), '-enddate', asn1Time(until)];
    const files = ['-in', 'new.csr', '-out', 'new.crt', '-extfile', 'extensions.cnf'];
    run('ca', '-batch', '-notext', '-config', 'ca.cnf', '-md', digest, ...signer, ...dates, ...files);
    return { cert: readFileSync(path('new.crt'), 'utf8'), key: readFileSync(path('new.key'), 'utf8') };
  };
  return { issue, close: () => rmSync(folder, { recursive: true, force: true }) };
}

/** In a section of its own a name may have a comma. */
function numbered(name: string, index: number): string {
  return name.replace(':', `.${index} = `);
}

/** The least that `openssl ca` asks for. */
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

/** RFC 5280 section 4.1.2.5.2. */
function asn1Time(daysFromNow: number): string {
  const time = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return `${time.slice(0, 19).replaceAll(/[-T:]/g, '')}Z`;
}
