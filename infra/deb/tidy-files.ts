import { chmodSync, copyFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Files that only builds, debuggers and registries read. */
const UNUSED =
  /(?:\.(?:map|d\.[cm]?ts|tsbuildinfo|bundled)|\/(?:eslint\.config\.[cm]?js|\.(?:npmignore|eslint[^/]*|editorconfig|prettierrc[^/]*)))$/;

/** Removes files of dependencies that no agent reads. */
export function removeUnused(folder: string): void {
  for (const file of filesIn(folder, UNUSED)) rmSync(file);
}

/**
 * Gives folders the mode of a package, whatever the umask of the build: `dpkg-deb -x` sets that of `./` on the folder
 * that it unpacks into. Hard links, by which a package manager saves space, become copies: a file has one place.
 */
export function tidyFiles(root: string): void {
  chmodSync(root, 0o755);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    if (!entry.isFile() || statSync(path).nlink === 1) continue;
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
  }
}

/** Files below a folder whose path matches. */
export function filesIn(folder: string, pattern: RegExp): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => pattern.test(file));
}
