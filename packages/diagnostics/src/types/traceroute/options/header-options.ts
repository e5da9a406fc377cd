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

const asked = 'absent if it was not requested, and from an agent that does not know the option.';

/** Result fields: the header options that the agent applied. */
export const headerResults = {
  firstHop: Type.Integer({ minimum: 1, maximum: 64, description: `TTL of the first packets; ${asked}` }),
  size: Type.Integer({ minimum: 128, maximum: 1_500, description: `Bytes of each packet; ${asked}` }),
  dscp: Type.Integer({ minimum: 0, maximum: 63, description: `DSCP of the packets; ${asked}` }),
  sourcePort: Type.Integer({ minimum: 1_024, maximum: 65_535, description: `Of the first flow; ${asked}` }),
};

interface Asked {
  readonly protocol: 'icmp' | 'udp' | 'tcp';
  readonly maxHops: number;
  readonly queries: number;
  readonly flows: number | 'all';
  readonly firstHop?: number | undefined;
  readonly size?: number | undefined;
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
