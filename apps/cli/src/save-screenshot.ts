import { access, constants, rm, stat, writeFile } from 'node:fs/promises';

import type { CheckOf } from '@vantage/client';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

interface Fault {
  readonly message: string;
  /** True if no probe took a screenshot: then a failure of the check is the more important reason. */
  readonly isMissing: boolean;
}

/** Why a file for a screenshot cannot be written; undefined if it can. Examined before the check starts. */
export async function screenshotFileFault(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file).catch(() => undefined);
    if (found?.isDirectory() === true) return unwritable(new Error(`${file} is a folder`));
    if (found === undefined) {
      await writeFile(file, '', { flag: 'wx' });
      await rm(file);
    } else await access(file, constants.W_OK);
    return undefined;
  } catch (error) {
    return unwritable(error);
  }
}

/**
 * Writes the screenshot of a check to a file.
 *
 * @returns the fault if no probe took one, or if the file cannot be written; undefined if it was written
 */
export async function saveScreenshotOf(check: CheckOf<CheckTypeName>, file: string): Promise<Fault | undefined> {
  const png = screenshotOf(check);
  if (png === undefined) return { message: 'No probe took a screenshot.', isMissing: true };
  try {
    await writeFile(file, png);
    return undefined;
  } catch (error) {
    return { message: unwritable(error), isMissing: false };
  }
}

function unwritable(error: unknown): string {
  return `The screenshot cannot be written: ${Error.isError(error) ? error.message : String(error)}`;
}

function screenshotOf({ results }: CheckOf<CheckTypeName>): Buffer | undefined {
  for (const result of Object.values(results)) {
    if ('screenshot' in result && typeof result.screenshot === 'string')
      return Buffer.from(result.screenshot, 'base64');
  }
  return undefined;
}
