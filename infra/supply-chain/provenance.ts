import { createHash, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { seal, unseal, type Envelope } from './envelope.ts';

export interface Subject {
  readonly name: string;
  readonly digest: { readonly sha256: string };
}

export interface Source {
  /** Commit that was built. */
  readonly commit: string;
  /** True if the checkout had uncommitted changes. */
  readonly isChanged: boolean;
  /** Files that determine the contents of a build, by their paths in the checkout. */
  readonly materials: readonly Subject[];
}

interface Statement {
  readonly _type: string;
  readonly subject: readonly Subject[];
  readonly predicateType: string;
  readonly predicate: {
    readonly buildDefinition: { readonly externalParameters: Pick<Source, 'commit' | 'isChanged'> };
  };
}

const STATEMENT = 'https://in-toto.io/Statement/v1';
const PROVENANCE = 'https://slsa.dev/provenance/v1';

export interface Keys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/**
 * SLSA provenance of files and images: the commit from which they were built, and the files that pin what else is in
 * them.
 */
export function attest(subject: readonly Subject[], { commit, isChanged, materials }: Source, keys: Keys): Envelope {
  const statement = {
    _type: STATEMENT,
    subject,
    predicateType: PROVENANCE,
    predicate: {
      buildDefinition: {
        buildType: 'urn:vantage:build:docker-compose:v1',
        externalParameters: { commit, isChanged },
        resolvedDependencies: [
          { uri: 'git+file:.', digest: { gitCommit: commit } },
          ...materials.map(({ name, digest }) => ({ uri: `file:${name}`, digest })),
        ],
      },
      runDetails: { builder: { id: 'urn:vantage:builder:local' }, metadata: { finishedOn: new Date().toISOString() } },
    },
  };
  return seal(statement, keys.privateKey, keys.publicKey);
}

export interface Verified {
  readonly commit: string;
  readonly isChanged: boolean;
  readonly subjects: readonly string[];
}

/**
 * Compares all subjects of an attestation with the present files and images.
 *
 * @param digestOf SHA-256 in hexadecimal of the present subject with that name; undefined if there is none
 * @throws Error if the attestation is not signed by this key or is no provenance, or with each difference
 */
export function verifyAttestation(
  envelope: Envelope,
  publicKey: KeyObject,
  digestOf: (name: string) => string | undefined,
): Verified {
  const statement = unseal(envelope, publicKey) as Statement;
  if (statement._type !== STATEMENT || statement.predicateType !== PROVENANCE) {
    throw new Error(`it is no SLSA provenance: ${statement._type}, ${statement.predicateType}`);
  }
  if (statement.subject.length === 0) throw new Error('it is about nothing');
  const faults = statement.subject.flatMap(({ name, digest: { sha256 } }) => {
    const now = digestOf(name);
    if (now === undefined) return [`${name} is not there`];
    return now === sha256 ? [] : [`${name} is another one: sha256:${now}, attested sha256:${sha256}`];
  });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const { commit, isChanged } = statement.predicate.buildDefinition.externalParameters;
  return { commit, isChanged, subjects: statement.subject.map(({ name }) => name) };
}

/** SHA-256 of a file, in hexadecimal; undefined if it does not exist. */
export function fileDigest(folder: string, name: string): string | undefined {
  const file = join(folder, name);
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : undefined;
}
