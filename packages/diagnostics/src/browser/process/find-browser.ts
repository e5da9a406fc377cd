import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** In the order of preference: the headless shell starts faster and takes less memory. */
const programs = ['chromium-headless-shell', 'chromium'];

/**
 * Finds the browser for screenshots.
 *
 * @param path folders as in the environment variable PATH
 * @returns its file; undefined if there is none
 */
export function findBrowser(path: string | undefined): string | undefined {
  const folders = (path ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return programs.flatMap((program) => folders.map((folder) => join(folder, program))).find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
