import { Type, type InputError } from '@vantage/contract';

import { dscpSchema } from '../../../shared/dscp.ts';
import { fewestFlows, wantsAllFlows } from './packet-counts.ts';

/** Options for single fields of the packets. */
export const headerOptions = {
  firstHop: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      description: 'TTL of the first packets, 1 if absent. A target that is nearer shows at this hop.',
    }),
  ),
  size: Type.Optional(
    Type.Integer({
      minimum: 128,
      maximum: 1_500,
      description:
        'Bytes of each packet with its IP header, for icmp and udp; about 100 if absent, of udp up to 126 ' +
        'more. Packets are never fragmented: a router that does not carry this size ends the path.',
    }),
  ),
  dscp: Type.Optional(dscpSchema),
  sourcePort: Type.Optional(
    Type.Integer({
      minimum: 1_024,
      maximum: 65_535,
      description:
        'Source port of udp and tcp; a random one if absent. Further flows take the ports after it. One check at a ' +
        'time can use it at a probe, and none if a program of the probe uses it.',
    }),
  ),
};

/**
 * Echo requests without these options for targets that are silent to all packets with them; `budgetMs` is the time that
 * the check gets for them.
 */
export const ORDINARY_ECHO = { count: 3, budgetMs: 3_000 } as const;

/** True if the size or DSCP of the packets may keep them from the target. */
export function isExtraordinary({ size, dscp = 0 }: Pick<Asked, 'size' | 'dscp'>): boolean {
  return size !== undefined || dscp !== 0;
}

/** Ordinary echo requests that may follow a trace, if this number of packets is left. */
export function ordinaryPackets(options: Pick<Asked, 'size' | 'dscp'>, left: number): number {
  return isExtraordinary(options) ? Math.max(0, Math.min(ORDINARY_ECHO.count, left)) : 0;
}

const asked = 'absent if it was not requested, and from an agent that does not know the option.';

/** Result fields: the header options that the agent applied. */
export const headerResults = {
  firstHop: Type.Integer({ minimum: 1, maximum: 64, description: `TTL of the first packets; ${asked}` }),
  size: Type.Integer({ minimum: 128, maximum: 1_500, description: `Bytes of each packet; ${asked}` }),
  dscp: Type.Integer({ minimum: 0, maximum: 63, description: `DSCP of the packets; ${asked}` }),
  sourcePort: Type.Integer({ minimum: 1_024, maximum: 65_535, description: `Of the first flow; ${asked}` }),
  ordinary: Type.Object(
    {
      sent: Type.Integer({ minimum: 1, maximum: ORDINARY_ECHO.count, description: 'Echo requests sent.' }),
      received: Type.Integer({ minimum: 0, maximum: ORDINARY_ECHO.count, description: 'Those that were answered.' }),
    },
    {
      additionalProperties: false,
      description:
        'Echo requests of 56 bytes of payload without DSCP, until one is answered, if the trace has a `size` or `dscp` and ' +
        'neither its packets nor those of `echo` got an answer of the target: a reply proves that the target is up. Absent if ' +
        'none were needed, or packets or time did not suffice.',
    },
  ),
};

interface Asked {
  readonly protocol: 'icmp' | 'udp' | 'tcp';
  readonly maxHops: number;
  readonly queries: number;
  readonly flows: number | 'all';
  readonly firstHop?: number | undefined;
  readonly size?: number | undefined;
  readonly dscp?: number | undefined;
  readonly sourcePort?: number | undefined;
}

const MAX_PORT = 65_535;

/** Errors of header options that do not fit the protocol or other options. */
export function headerErrors(options: Asked): InputError[] {
  return [firstHopError(options), sizeError(options), sourcePortError(options)].filter((error) => error !== undefined);
}

function firstHopError(options: Asked): InputError | undefined {
  const { firstHop = 1, maxHops } = options;
  const path = '/options/firstHop';
  if (firstHop > maxHops) return { path, message: `must be at most maxHops, which is ${maxHops}` };
  if (firstHop === 1 || !wantsAllFlows(options)) return undefined;
  return { path, message: 'must be 1 with all flows: their search begins at the probe' };
}

function sizeError({ protocol, size }: Asked): InputError | undefined {
  if (size === undefined || protocol !== 'tcp') return undefined;
  return { path: '/options/size', message: 'must be absent for tcp: the SYNs of a trace carry no data' };
}

function sourcePortError(options: Asked): InputError | undefined {
  const { protocol, sourcePort } = options;
  const path = '/options/sourcePort';
  if (sourcePort === undefined) return undefined;
  if (protocol === 'icmp') return { path, message: 'must be absent for icmp: echo requests have no ports' };
  if (wantsAllFlows(options)) return { path, message: 'must be absent with all flows: each has its own port' };
  const most = MAX_PORT - fewestFlows(options) + 1;
  return sourcePort <= most ? undefined : { path, message: `must be <= ${most}: each flow takes the next port` };
}
