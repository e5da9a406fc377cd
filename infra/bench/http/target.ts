import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { certificateMint } from '@vantage/test-support/certificate-mint';
import { temporaryFolder } from '@vantage/test-support/daemon';
import { startWorker } from './worker.ts';

/** The server that all compared tools request. */
export interface HttpTarget {
  /** `https://127.0.0.1:…`, without a path. */
  readonly secure: string;
  /** `http://127.0.0.1:…`, without a path. */
  readonly plain: string;
  /** File of the root certificate. */
  readonly rootFile: string;
  readonly stop: () => Promise<void>;
}

/** Starts the target with a certificate of an intermediate authority, as on the internet. */
export async function startTarget(): Promise<HttpTarget> {
  const folder = await temporaryFolder();
  const file = (name: string): string => join(folder.path, name);
  const mint = certificateMint();
  const root = mint.issue({ subject: '/O=Bench/CN=Bench Root', ca: true });
  const intermediate = mint.issue({ subject: '/O=Bench/CN=Bench Intermediate', ca: true, issuer: root });
  const names = ['DNS:bench.test', 'IP:127.0.0.1'];
  const leaf = mint.issue({ subject: '/CN=bench.test', names, issuer: intermediate });
  mint.close();
  await writeFile(file('root.pem'), root.cert);
  await writeFile(file('chain.pem'), `${leaf.cert}\n${intermediate.cert}`);
  await writeFile(file('key.pem'), leaf.key);
  const worker = await startWorker('target-worker.ts', [file('chain.pem'), file('key.pem')]);
  const ports = JSON.parse(worker.ready) as { readonly secure: number; readonly plain: number };
  return {
    secure: `https://127.0.0.1:${ports.secure}`,
    plain: `http://127.0.0.1:${ports.plain}`,
    rootFile: file('root.pem'),
    stop: async () => {
      await worker.stop();
      await folder.remove();
    },
  };
}
