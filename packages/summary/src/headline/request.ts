import type { Check } from '@vantage/contract';

import { ofType, type ProbeResult } from '../probe-result.ts';
import { safeText } from '../words.ts';

export function hostOf({ host }: Check): string {
  return safeText(host, 120);
}

export function portOf(probeResults: readonly ProbeResult[]): string {
  const port = ofType<'tcp'>(probeResults).find(({ result }) => result.port !== undefined)?.result.port;
  return port === undefined ? '' : String(port);
}

export function recordTypeOf(probeResults: readonly ProbeResult[]): string {
  const type = ofType<'dns'>(probeResults).find(({ result }) => result.recordType !== undefined)?.result.recordType;
  return type === undefined ? '?' : safeText(type, 16);
}
