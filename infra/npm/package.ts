import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '../..');

interface Manifest {
  readonly version: string;
  readonly description?: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** @param folder of a workspace, relative to the repository */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}

/** Writes package.json, README, licence and notices into the folder of a package. */
export function writePackage(folder: string, manifest: object, readme: string): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), withoutFileLinks(readFileSync(join(root, readme), 'utf8')));
  for (const name of ['LICENSE', 'NOTICE']) copyFileSync(join(root, name), join(folder, name));
}

/**
 * Replaces links to other pages of the repository, which lead nowhere from a package, by their text, and adds a
 * sentence that names their folder.
 */
function withoutFileLinks(readme: string): string {
  const text = readme.replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, '$1');
  return text === readme
    ? text
    : `${text.trimEnd()}\n\nThe folder \`docs\` of the repository has more on each subject.\n`;
}

/** Writes the licences of bundled packages, as they demand. */
export function writeLicenses(folder: string, names: readonly string[]): void {
  const texts = names.map((name) => `${name}\n\n${licenseOf(name)}`);
  writeFileSync(join(folder, 'LICENSES.txt'), texts.join('\n\n'));
}

function licenseOf(name: string): string {
  const users = ['packages/client', 'packages/contract', 'packages/diagnostics'];
  const installed = users.map((user) => join(root, user, 'node_modules', name)).find(existsSync)!;
  const file = readdirSync(installed).find((entry) => /^licen[cs]e/i.test(entry))!;
  return readFileSync(join(installed, file), 'utf8');
}

/** @returns path of the tarball */
export function npmPack(folder: string, target: string): string {
  mkdirSync(target, { recursive: true });
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', resolve(target)];
  const output = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = JSON.parse(output) as readonly { readonly filename: string }[];
  return join(resolve(target), packed!.filename);
}
