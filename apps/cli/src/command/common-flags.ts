import type { AnyCheckType } from '@vantage/contract';

/** Flags of every command that calls the service. */
export const commonFlags = {
  server: {
    type: 'string',
    value: 'URL',
    description: 'Address of the service (VANTAGE_URL, else http://127.0.0.1:8080).',
  },
  key: {
    type: 'string',
    value: 'KEY',
    description: 'API key (VANTAGE_KEY, which other users of the machine do not see).',
  },
  json: { type: 'boolean', description: 'The answer of the service as JSON, and nothing else.' },
  help: { type: 'boolean', short: 'h', description: 'This text.' },
} as const;

/** Flags that select the probes of a check or a monitor. */
export const selectionFlags = {
  from: {
    type: 'string',
    multiple: true,
    value: 'LOCATIONS',
    description: 'Locations of the probes: de,AS3320 for either, de+AS3320 for both at once.',
  },
  probes: { type: 'string', multiple: true, value: 'IDS', description: 'Exactly these probes, by their ids.' },
  limit: { type: 'string', value: 'N', description: 'How many probes at most. Range: 1 to 100. Default: 10.' },
} as const;

/** Output of the results of a check. */
export const csvFlag = {
  csv: { type: 'boolean', description: 'The results as CSV, one row per probe, and nothing else.' },
} as const;

const watchFlags = {
  watch: {
    type: 'string',
    value: 'SECONDS',
    description: 'Repeat the check from the same probes every so many seconds, one line per run. Range: 5 to 86400.',
  },
} as const;

const screenshotFlags = {
  'save-screenshot': {
    type: 'string',
    value: 'FILE',
    description: 'File for the screenshot of an http check, as PNG.',
  },
} as const;

/** Flags of `monitors put`. */
export const monitorFlags = {
  every: { type: 'string', value: 'DURATION', description: 'Interval, 10s to 1d: 30s, 5m, 1h. Default: 60s.' },
  when: { type: 'string', description: 'Share of the probes that must fail: "3 of 5". Default: "1 of 2".' },
  networks: { type: 'string', value: 'N', description: 'Networks in which probes must fail. Default: 1.' },
  countries: { type: 'string', value: 'N', description: 'Countries in which probes must fail. Default: 1.' },
  for: { type: 'string', value: 'N', description: 'Consecutive ticks before the state changes. Default: 2.' },
  file: {
    type: 'string',
    value: 'FILE',
    description: 'A file with the definition as JSON, in place of TYPE, HOST and flags.',
  },
} as const;

interface CommonFlag {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** Name of the value in help. */
  readonly value?: string;
  readonly description: string;
}

const pairFlags = {
  between: {
    type: 'string',
    value: 'IDS',
    description: 'Two probes, each of which measures the other: fra-1,nyc-1. Without HOST.',
  },
} as const;

/** Flags of a check besides those of its schema. */
export function checkFlagsOf({ screenshot, takesPairs = false }: AnyCheckType): Readonly<Record<string, CommonFlag>> {
  return {
    ...selectionFlags,
    ...(takesPairs ? pairFlags : {}),
    ...csvFlag,
    ...watchFlags,
    ...(screenshot === undefined ? {} : screenshotFlags),
  };
}
