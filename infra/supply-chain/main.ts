// Bills of materials and provenance: npm run -s supply-chain -- sbom|keys|attest|verify. See docs/supply-chain.md.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import type { Envelope } from './envelope.ts';
import { attest, fileDigest, verifyAttestation, type Source, type Subject } from './provenance.ts';
import { run } from './run.ts';
import { imageId, images, writeImageBoms, writePackageBoms } from './sbom.ts';

const usage = `npm run -s supply-chain -- sbom   [--out FOLDER]               CycloneDX of each package, and of each image that the engine has
npm run -s supply-chain -- keys   --key FILE                   a new Ed25519 key pair: FILE and FILE.pub
npm run -s supply-chain -- attest --key FILE [--out FOLDER]    signs the provenance of those files and images
npm run -s supply-chain -- verify --key FILE.pub [--out FOLDER]  checks signature, files and images

FOLDER is release where it is not given.
`;

const repository = join(import.meta.dirname, '../..');
const ATTESTATION = 'provenance.dsse.json';
/** Files that pin the contents from other sources; the commit identifies our own. */
const materials = [
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'infra/setup/pnpm/package-lock.json',
  'docker-compose.yml',
  ...['coordinator', 'probe-agent', 'load'].map((name) => `infra/docker/${name}.Dockerfile`),
];

type Command = (folder: string, key: string) => void;

const commands: Readonly<Record<string, Command>> = {
  sbom: (folder) => {
    writePackageBoms(folder);
    const written = writeImageBoms(folder);
    for (const image of Object.keys(images))
      if (!written.includes(image)) print(`${image}: the engine has no such image`);
    print(`${bomsIn(folder).length} bills of materials in ${folder}`);
  },
  keys: (_, key) => {
    if (existsSync(key)) throw new Error(`${key} is there already`);
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    writeFileSync(`${key}.pub`, publicKey.export({ type: 'spki', format: 'pem' }));
  },
  attest: (folder, key) => {
    const privateKey = createPrivateKey(readFileSync(key));
    const subjects = [...bomsIn(folder).map((name) => subject(name, fileDigest(folder, name)!)), ...imageSubjects()];
    if (subjects.length === 0) throw new Error(`${folder} has no bills of materials: npm run -s supply-chain -- sbom`);
    const envelope = attest(subjects, source(), { privateKey, publicKey: createPublicKey(privateKey) });
    writeFileSync(join(folder, ATTESTATION), `${JSON.stringify(envelope, undefined, 2)}\n`);
    print(`${subjects.length} files and images attested in ${join(folder, ATTESTATION)}`);
  },
  verify: (folder, key) => {
    const envelope = JSON.parse(readFileSync(join(folder, ATTESTATION), 'utf8')) as Envelope;
    const digestOf = (name: string): string | undefined =>
      Object.hasOwn(images, name) ? imageId(name)?.replace('sha256:', '') : fileDigest(folder, name);
    const { commit, isChanged, subjects } = verifyAttestation(envelope, createPublicKey(readFileSync(key)), digestOf);
    print(
      `${subjects.length} files and images are those built from ${commit}${isChanged ? ', with changes that no commit has' : ''}`,
    );
  },
};

function bomsIn(folder: string): readonly string[] {
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.cdx.json'))
        .toSorted()
    : [];
}

function imageSubjects(): readonly Subject[] {
  return Object.keys(images).flatMap((name) => {
    const id = imageId(name);
    return id === undefined ? [] : [subject(name, id.replace('sha256:', ''))];
  });
}

function source(): Source {
  return {
    commit: run('git', ['rev-parse', 'HEAD'], repository).trim(),
    isChanged: run('git', ['status', '--porcelain', '--untracked-files=no'], repository).trim() !== '',
    materials: materials.map((name) => subject(name, fileDigest(repository, name)!)),
  };
}

function subject(name: string, sha256: string): Subject {
  return { name, digest: { sha256 } };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function main(): number {
  const options = {
    out: { type: 'string', default: 'release' },
    key: { type: 'string' },
    help: { type: 'boolean' },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [name = '', ...more] = positionals;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (values.help === true) {
    print(usage);
    return 0;
  }
  if (command === undefined || more.length > 0 || (name !== 'sbom' && values.key === undefined)) {
    process.stderr.write(usage);
    return 2;
  }
  const folder = resolve(values.out);
  if (name === 'sbom') mkdirSync(folder, { recursive: true });
  command(folder, resolve(values.key ?? ''));
  return 0;
}

try {
  process.exitCode = main();
} catch (error) {
  process.stderr.write(`${Error.isError(error) ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
