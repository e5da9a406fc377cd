import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';

import { imageBom, type Bom } from './bom.ts';
import { writePackageBoms } from './sbom.ts';

const library = dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json'));
const schema = (name: string): object =>
  JSON.parse(readFileSync(join(library, 'res/schema', `${name}.SNAPSHOT.schema.json`), 'utf8')) as object;

/** The schema as CycloneDX publishes it. */
function cycloneDx(): ValidateFunction {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs']) {
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  return ajv.compile(schema('bom-1.6'));
}

describe('bills of materials', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-sbom-'));
  const isValid = cycloneDx();
  const read = (name: string): Bom => JSON.parse(readFileSync(join(folder, `${name}.cdx.json`), 'utf8')) as Bom;
  const names = (bom: Bom): readonly string[] => bom.components.map(({ name }) => name);

  beforeAll(() => writePackageBoms(folder));
  afterAll(() => rmSync(folder, { recursive: true }));

  function faultsOf(bom: unknown): unknown {
    isValid(bom);
    return isValid.errors ?? [];
  }

  it('are there for every package, and valid CycloneDX', () => {
    const files = readdirSync(folder);

    expect(files).toEqual(expect.arrayContaining(['vantage-coordinator.cdx.json', 'vantage-probe-agent.cdx.json']));
    for (const file of files) {
      expect([file, faultsOf(JSON.parse(readFileSync(join(folder, file), 'utf8')))]).toEqual([file, []]);
    }
  });

  it('name what a program needs to run, with hashes, and no tool of the development', () => {
    const coordinator = read('vantage-coordinator');
    const express = coordinator.components.find(({ name }) => name === 'express');

    expect(names(coordinator)).toEqual(expect.arrayContaining(['express', 'ioredis', 'bullmq']));
    expect(names(coordinator)).not.toContain('jest');
    expect(JSON.stringify(express)).toContain('"alg":"SHA-512"');
    expect(names(read('vantage-probe-agent'))).toContain('raw-socket');
  });

  it('of an image name what is in it, and nothing else', () => {
    const bom = imageBom('vantage-coordinator', read('vantage-coordinator'), {
      id: `sha256:${'ab'.repeat(32)}`,
      node: { node: '24.21.0', openssl: '3.5.4' },
      packages: ['@vantage/contract@0.1.0', 'express@5.3.0', 'not-in-the-lockfile@1.0.0'],
      debian: [{ name: 'libstdc++6', version: '12.2.0-14+deb12u1', architecture: 'amd64' }],
    });
    const purls = bom.components.map(({ purl }) => purl);

    expect(faultsOf(bom)).toEqual([]);
    expect(purls).toEqual([
      'pkg:npm/%40vantage/contract@0.1.0',
      'pkg:npm/express@5.3.0',
      'pkg:npm/not-in-the-lockfile@1.0.0',
      'pkg:generic/node@24.21.0',
      'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64',
    ]);
    // Licence and hashes of packages in the lockfile.
    expect(bom.components[1]).toMatchObject({ licenses: [{ license: { id: 'MIT' } }] });
  });

  it('that are none are refused by the schema', () => {
    const bom = read('vantage-coordinator');

    expect(faultsOf({ ...bom, components: [{ name: 'without a type' }] })).not.toEqual([]);
  });
});
