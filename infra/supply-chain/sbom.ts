import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { imageBom, type Bom, type DebianPackage, type ImageContents } from './bom.ts';
import { run } from './run.ts';

const repository = join(import.meta.dirname, '../..');

/** Images that are built here, and the package that each of them runs. */
export const images = {
  'vantage-coordinator': 'coordinator',
  'vantage-probe-agent': 'probe-agent',
  'vantage-load': 'load',
} as const;

/** Bills of materials of all packages of the workspace: their runtime dependencies, from the lockfile. */
export function writePackageBoms(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const pnpm = join(repository, 'infra/setup/pnpm.mjs');
  const format = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--prod', '--split'];
  run(process.execPath, [pnpm, 'sbom', ...format, '--out', join(folder, '%s.cdx.json')], repository);
}

/**
 * Writes bills of materials of the images that are present in the engine and whose package has one in the folder.
 *
 * @returns the names of the images
 */
export function writeImageBoms(folder: string): readonly string[] {
  return Object.entries(images).flatMap(([image, application]) => {
    const contents = readImage(image);
    const file = join(folder, `vantage-${application}.cdx.json`);
    if (contents === undefined || !existsSync(file)) return [];
    const bom = imageBom(image, JSON.parse(readFileSync(file, 'utf8')) as Bom, contents);
    writeFileSync(join(folder, `${image}.image.cdx.json`), `${JSON.stringify(bom, undefined, 2)}\n`);
    return [image];
  });
}

/** The identifier of an image of the engine; undefined if there is no such image, or no engine. */
export function imageId(image: string): string | undefined {
  try {
    return run('docker', ['image', 'inspect', '--format', '{{.Id}}', image]).trim();
  } catch {
    return undefined;
  }
}

/** Runs inside the image, with its Node. */
const listPackages = `
  const { readdirSync, readFileSync, existsSync } = require('node:fs');
  const root = '/vantage/node_modules/.pnpm';
  const found = new Set();
  const read = (folder) => {
    const file = folder + '/package.json';
    if (!existsSync(file)) return;
    const { name, version } = JSON.parse(readFileSync(file, 'utf8'));
    if (name && version) found.add(name + '@' + version);
  };
  for (const entry of existsSync(root) ? readdirSync(root) : []) {
    const folder = root + '/' + entry + '/node_modules';
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      if (name.startsWith('@')) for (const scoped of readdirSync(folder + '/' + name)) read(folder + '/' + name + '/' + scoped);
      else read(folder + '/' + name);
    }
  }
  console.log(JSON.stringify({ node: process.versions, packages: [...found].sort() }));
`;

function readImage(image: string): ImageContents | undefined {
  const id = imageId(image);
  if (id === undefined) return undefined;
  const inside = (...command: readonly [string, ...string[]]): string => {
    const [program, ...args] = command;
    return run('docker', ['run', '--rm', '--network', 'none', '--entrypoint', program, image, ...args]);
  };
  const { node, packages } = JSON.parse(inside('node', '-e', listPackages)) as Pick<ImageContents, 'node' | 'packages'>;
  const format = '${Package}\\t${Version}\\t${Architecture}\\n';
  const debian = inside('dpkg-query', '--show', '--showformat', format)
    .trim()
    .split('\n')
    .map((line): DebianPackage => {
      const [name = '', version = '', architecture = ''] = line.split('\t');
      return { name, version, architecture };
    });
  return { id, node, packages, debian };
}
