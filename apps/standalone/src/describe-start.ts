import type { Probes } from '@vantage/contract';

import type { Arguments } from './arguments.ts';

/** Startup message: the URL, the status of each probe, and a command to try. */
export function describeStart(url: string, probes: Probes, args: Arguments): string {
  return [
    '',
    `Vantage runs at ${url} (this machine only). Ctrl-C stops it.`,
    '',
    ...Object.entries(probes).map(
      ([id, { status, reason }]) => `  ${id}  ${status}${reason === null ? '' : `: ${reason}`}`,
    ),
    `  data and logs: ${args.dataFolder}`,
    '',
    'Try:',
    '',
    ...firstCheck(url, args),
    '',
  ].join('\n');
}

/** A check to try: of a public name, or of this machine if loopback is permitted. */
function firstCheck(url: string, args: Arguments): readonly string[] {
  const body = args.allow.some((cidr) => cidr.startsWith('127.'))
    ? { type: 'tcp', host: '127.0.0.1', port: Number(new URL(url).port) }
    : { type: 'http', host: 'https://example.com/' };
  return [
    `  curl -s ${url}/check -H 'content-type: application/json' -d '${JSON.stringify(body)}'`,
    `  curl -s '${url}/check/<checkId>/results?wait=25'`,
  ];
}
