import { writeFile } from 'node:fs/promises';

import type { CheckOf } from '@vantage/client';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

interface Fault {
  readonly message: string;
  /** True if there is a screenshot that cannot be written. */
  readonly isFinal: boolean;
}

/** @returns undefined if the file is written */
export async function saveScreenshotOf(check: CheckOf<CheckTypeName>, file: string): Promise<Fault | undefined> {
  const png = screenshotOf(check);
  if (png === undefined) return { message: 'No probe took a screenshot.', isFinal: false };
  try {
    await writeFile(file, png);
    return undefined;
  } catch (error) {
    const why = Error.isError(error) ? error.message : String(error);
    return { message: `The screenshot cannot be written: ${why}`, isFinal: true };
  }
}

function screenshotOf({ results }: CheckOf<CheckTypeName>): Buffer | undefined {
  for (const result of Object.values(results)) {
    if ('screenshot' in result && typeof result.screenshot === 'string')
      return Buffer.from(result.screenshot, 'base64');
  }
  return undefined;
}
