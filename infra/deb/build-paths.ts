import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Files that only pnpm reads, some of which have paths of the build machine. */
const PNPM_FILES = [
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'node_modules/.modules.yaml',
  'node_modules/.pnpm-workspace-state-v1.json',
  'node_modules/.pnpm',
];

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Removes the path of the build machine from a program that `pnpm deploy` has written with hoisted packages.
 *
 * @throws Error if a name or a file still has the path
 */
export function removeBuildPaths(home: string, repository: string): void {
  for (const path of PNPM_FILES) rmSync(join(home, path), { recursive: true, force: true });
  const file = join(home, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  // Packages of the workspace have the version of the program.
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies).map(([name, range]) => [
      name,
      range.includes('file:') ? manifest.version : range,
    ]),
  );
  writeFileSync(file, `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`);
  const left = filesWith(home, repository);
  if (left.length > 0) throw new Error(`${left.join(', ')} has the path of the build machine`);
}

/** Paths below a folder that have a path in their content, or in their name as pnpm writes it. */
function filesWith(folder: string, path: string): readonly string[] {
  const inNames = path.replaceAll('/', '+');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, file: join(entry.parentPath, entry.name) }))
    .filter(({ entry, file }) => file.includes(inNames) || (entry.isFile() && readFileSync(file).includes(path)))
    .map(({ file }) => relative(folder, file));
}
