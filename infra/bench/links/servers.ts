import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { certificateMint } from '@vantage/test-support/certificate-mint';
import { startDaemon, temporaryFolder, type Daemon } from '@vantage/test-support/daemon';
import { unpackPackages, type UnpackedPackages } from '@vantage/test-support/debian-packages';
import { lossyPath, paths, type Path } from './lab.ts';

export const ZONE = 'links-bench.net';
export const files = { '20 KB': 20_000, '200 KB': 200_000, '1 MB': 1_000_000 } as const;
export type FileName = keyof typeof files;
/** Ports of the servers; for DNS the target policy admits only these. */
export const ports = { https: 8_443, dns: 53, tls: 853, doh: 443 } as const;

/** nginx and BIND at the far end of a link. */
export interface Servers {
  /** File of the root certificate. */
  readonly rootFile: string;
  readonly stop: () => Promise<void>;
}

/** URL of a test file on the server behind `path`; `host` is its DNS name by default, or an address. */
export function urlOf(path: Path, file: FileName, host = hostOf(path)): string {
  return `https://${host}:${ports.https}/${fileOf(file)}`;
}

/** The host that resolves to the far end of a path. */
export function hostOf({ address }: Path): string {
  return `n${address.split('.')[2]}.${ZONE}`;
}

export async function startServers(inside: readonly string[]): Promise<Servers> {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  const mint = certificateMint();
  const root = mint.issue({ subject: '/O=Bench/CN=Bench Root', ca: true });
  const addresses = [...Object.values(paths), lossyPath].map(({ address }) => `IP:${address}`);
  const leaf = mint.issue({ subject: `/CN=${ZONE}`, names: [`DNS:*.${ZONE}`, ...addresses], issuer: root });
  mint.close();
  for (const [name, text] of Object.entries({ root: root.cert, chain: leaf.cert, key: leaf.key })) {
    await writeFile(at(`${name}.pem`), text);
  }
  for (const [name, bytes] of Object.entries(files)) await writeFile(at(fileOf(name)), Buffer.alloc(bytes, 'a'));
  await writeFile(at('zone'), zone());
  await writeFile(at('nginx.conf'), nginxConfiguration(folder.path));
  await writeFile(at('named.conf'), namedConfiguration(folder.path));
  const nginx = await unpackPackages('nginx');
  const bind = await unpackPackages('bind9');
  const started: Daemon[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((daemon) => daemon.stop()));
    await folder.remove();
  };
  const listensOn = async (port: number): Promise<boolean> => {
    const [command, ...words] = [...inside, 'ss', '-Hltn', `sport = :${port}`];
    return (await run(command, words)).stdout !== '';
  };
  const start = async (packages: UnpackedPackages, program: string, args: readonly string[], port: number) => {
    started.push(await startDaemon(packages, program, args, () => listensOn(port), inside));
  };
  try {
    await start(nginx, 'nginx', ['-e', 'stderr', '-c', at('nginx.conf')], ports.https);
    await start(bind, 'named', ['-g', '-n', '1', '-c', at('named.conf')], ports.doh);
  } catch (error) {
    await stop();
    throw error;
  }
  return { rootFile: at('root.pem'), stop };
}

function fileOf(name: string): string {
  return name.replace(' ', '');
}

function zone(): string {
  const hosts = [...Object.values(paths), lossyPath].map((path) => `${hostOf(path)}. 300 IN A ${path.address}`);
  return `$ORIGIN ${ZONE}.\n@ 300 IN SOA ns hostmaster 1 3600 600 86400 300\n@ 300 IN NS ns\nns 300 IN A ${paths.near.address}\n${hosts.join('\n')}\n`;
}

function nginxConfiguration(folder: string): string {
  const bodies = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `daemon off;
user root;
worker_processes 1;
error_log stderr;
pid ${folder}/nginx.pid;
events { }
http {
  access_log off;
  ${bodies.join('\n  ')}
  server {
    listen ${ports.https} ssl http2;
    ssl_certificate ${folder}/chain.pem;
    ssl_certificate_key ${folder}/key.pem;
    ssl_protocols TLSv1.3;
    root ${folder};
  }
}
`;
}

function namedConfiguration(folder: string): string {
  return `
tls local { cert-file "${folder}/chain.pem"; key-file "${folder}/key.pem"; };
options {
  directory "${folder}";
  pid-file "${folder}/named.pid";
  session-keyfile "${folder}/session.key";
  lock-file none;
  listen-on port ${ports.dns} { any; };
  listen-on port ${ports.tls} tls local { any; };
  listen-on port ${ports.doh} tls local http default { any; };
  listen-on-v6 { none; };
  recursion no;
  dnssec-validation no;
};
controls { };
zone "${ZONE}" { type primary; file "${folder}/zone"; };
`;
}

const run = promisify(execFile);
