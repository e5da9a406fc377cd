import { browserHere } from '@vantage/test-support/browser/needs';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';

import { chromiumOpinion, type ChromiumOpinion, type ChromiumOptions } from './second-opinions.ts';

/** Chromium as a second opinion on this machine. */
export interface ChromiumHere {
  /** Why it cannot be asked; null if it can. */
  readonly missing: string | null;
  /** Starts it; undefined if it is missing. */
  readonly open: (trusted: Pick<ChromiumOptions, 'roots' | 'servers'>) => Promise<ChromiumOpinion | undefined>;
}

const NSS = ['libnss3-tools'];

/** @param missing why the tests that ask Chromium cannot run at all; null if they can */
export async function chromiumHere(missing: string | null): Promise<ChromiumHere> {
  const { executablePath, missing: noBrowser } = browserHere(process.env['PATH']);
  const all = requiredInCi(missing ?? noBrowser ?? (await packagesMissing(NSS)));
  return {
    missing: all,
    open: async (trusted) => {
      if (all !== null) return undefined;
      const nss = await unpackPackages(...NSS);
      const certutil = { path: nss.program('certutil'), environment: nss.environment };
      return chromiumOpinion({ executablePath, certutil, ...trusted });
    },
  };
}

/** @throws Error in CI, where no test may be skipped, unless nothing is missing */
export function requiredInCi(missing: string | null): string | null {
  if (missing !== null && process.env['CI'] !== undefined) {
    throw new Error(`In CI these tests cannot be skipped: ${missing}.`);
  }
  return missing;
}
