import { access } from 'node:fs/promises';

import { isExecutable } from './find-browser.ts';

/** @returns why no browser can run here, null if one can */
export async function prerequisiteFault(
  executablePath: string | undefined,
  tempFolder: string,
): Promise<string | null> {
  if (process.platform !== 'linux') return 'Screenshots need Linux: the browser is watched through /proc.';
  if (executablePath === undefined) return 'There is no chromium-headless-shell and no chromium on this machine.';
  if (!isExecutable(executablePath)) return `${executablePath} cannot be executed.`;
  return access(tempFolder).then(
    () => null,
    () => `The folder ${tempFolder} is not there.`,
  );
}
