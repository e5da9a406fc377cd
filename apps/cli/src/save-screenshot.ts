import { writeFile } from 'node:fs/promises';

import type { CheckOf } from '@vantage/client';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

interface Fault {
  readonly message: string;
  /** True if no probe took a screenshot: then a failure of the check is the more important reason. */
  readonly isMissing: boolean;
}

/** @returns undefined if the file is written */
export async function saveScreenshotOf(check: CheckOf<CheckTypeName>, file: string): Promise<Fault | undefined> {
  const png = screenshotOf(check);
  if (png === undefined) return { message: 'No probe took a screenshot.', isMissing: true };
  try {
    await writeFile(file, png);
    return undefined;
  } catch (error) {
    const why = Error.isError(error) ? error.message : String(error);
    return { message: `The screenshot cannot be written: ${why}`, isMissing: false };
  }
}

function screenshotOf({ results }: CheckOf<CheckTypeName>): Buffer | undefined {
  for (const result of Object.values(results)) {
    if ('screenshot' in result && typeof result.screenshot === 'string')
      return Buffer.from(result.screenshot, 'base64');
  }
  return undefined;
}
