import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { componentSchemas } from '@vantage/coordinator';
import { checkTypeNames, checkTypes } from '@vantage/diagnostics/contract';

import { manifestOf, npmPack, writePackage } from './package.ts';

/**
 * Packs the types of the API, generated from the schemas of the OpenAPI document: declarations alone, without
 * dependencies.
 *
 * @param folder of the tarball
 * @returns path of the tarball
 */
export function packTypes(folder: string): string {
  const work = mkdtempSync(join(tmpdir(), 'vantage-pack-types-'));
  try {
    const { version, license } = manifestOf('packages/client');
    writeTypes(work);
    const manifest = { name: '@vantage/types', version, description: 'Types of the HTTP API of Vantage', license };
    // Not of type module, so that CommonJS modules can import the declarations too.
    const entry = { types: 'index.d.ts', exports: { '.': { types: './index.d.ts' } } };
    writePackage(work, { ...manifest, ...entry }, 'infra/npm/types-readme.md');
    return npmPack(work, folder);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** The generator is a dependency of the coordinator, which has the TypeScript that it needs. */
const generator = join(import.meta.dirname, '../../apps/coordinator/node_modules/openapi-typescript/bin/cli.js');

function writeTypes(folder: string): void {
  const schemas = componentSchemas(Object.values(checkTypes));
  const document = join(folder, 'openapi.json');
  const file = join(folder, 'index.d.ts');
  const info = { title: 'Vantage', version: '' };
  writeFileSync(document, JSON.stringify({ openapi: '3.1.0', info, paths: {}, components: { schemas } }));
  const options = ['--root-types', '--root-types-no-schema-prefix', '--output', file];
  execFileSync(process.execPath, [generator, document, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  rmSync(document);
  const typesOf = (suffixes: readonly string[]): string =>
    checkTypeNames
      .map((type) => {
        const prefix = type.charAt(0).toUpperCase() + type.slice(1);
        return `  ${type}: ${suffixes.map((suffix) => prefix + suffix).find((name) => name in schemas)!};`;
      })
      .join('\n');
  const monitorEvents = Object.keys(schemas).filter((name) => /^Monitor\w+Event$/.test(name));
  const perType = `
/** The request of each check type. */
export interface CheckRequests {
${typesOf(['Request'])}
}
/** The result of one probe, pending or final, of each check type. */
export interface ProbeResults {
${typesOf(['Entry'])}
}
/** The result of one probe in an event: \`screenshotUrl\` replaces an inline screenshot. */
export interface ProbeEventResults {
${typesOf(['EventEntry', 'Entry'])}
}
/** Each check type with its results. */
export interface Checks {
${typesOf(['Check'])}
}
/** Each check type with its results as events contain them. */
export interface EventChecks {
${typesOf(['EventCheck', 'Check'])}
}
/** An event of a monitor. */
export type MonitorEvent = ${monitorEvents.join(' | ')};
export type CheckTypeName = keyof CheckRequests;
export type CheckRequestOf<Name extends CheckTypeName> = CheckRequests[Name];
export type PairRequest = CheckRequests['traceroute'];
export type ResultOf<Name extends CheckTypeName> = ProbeResults[Name];
export type EventResultOf<Name extends CheckTypeName> = ProbeEventResults[Name];
export type CheckOf<Name extends CheckTypeName> = Checks[Name];
export type EventCheckOf<Name extends CheckTypeName> = EventChecks[Name];
`;
  writeFileSync(file, readFileSync(file, 'utf8') + perType);
}
