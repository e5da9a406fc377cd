import { durationSchema, nullable, Type, type InputError, type Static } from '@vantage/contract';

/** Maximum number of rounds of a check; there is one per second. */
const MAX_ROUNDS = 60;

export const roundOptions = {
  rounds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ROUNDS,
      description:
        'As mtr: the trace is the first round, then one packet goes to each hop each second. Hops get `stats`, live. ' +
        'If the path is too long for the packets of a check, the target gets one each round, and routers fewer.',
    }),
  ),
  endWithStream: Type.Optional(
    Type.Boolean({
      description:
        'True to send no further rounds once the last event stream of the check has been closed for some seconds. A check without ' +
        'a stream runs to its end.',
    }),
  ),
};

export const roundResults = {
  rounds: Type.Integer({
    minimum: 1,
    maximum: MAX_ROUNDS,
    description: 'Rounds that were sent; absent if none were requested, and from an agent that does not know them.',
  }),
  targetHops: Type.Array(
    Type.Object(
      {
        hop: Type.Integer({ minimum: 1, maximum: 64 }),
        round: Type.Integer({ minimum: 1, maximum: MAX_ROUNDS, description: 'First round in which it was there.' }),
        sent: Type.Integer({ minimum: 0, maximum: 640, description: 'Packets to it meanwhile.' }),
        received: Type.Integer({ minimum: 0, maximum: 640, description: 'Its answers to them.' }),
      },
      { additionalProperties: false },
    ),
    {
      maxItems: MAX_ROUNDS,
      description:
        'The hops of the target, if the path became longer or shorter between the rounds, when each hop has the packets of its TTL, ' +
        'or if it first answered at a hop in a later round.',
    },
  ),
  roundsLeftOut: Type.Integer({
    minimum: 1,
    maximum: MAX_ROUNDS,
    description:
      'Rounds in which the probe stood still (`stalled`), or its packets did not leave it (its next hop did not answer, or it had no route) ' +
      'and later ones were answered: their packets without an answer count neither as sent nor as lost. Rounds that were not sent in ' +
      'time because it stood still are included.',
  }),
  roundsEnded: Type.Enum(['stream_closed'], {
    description: 'Why fewer rounds than requested were sent: no client followed the check any more (`endWithStream`).',
  }),
};

interface Asked {
  readonly flows: number | 'all';
  readonly rounds?: number | undefined;
  readonly endWithStream?: boolean | undefined;
}

export function roundErrors({ flows, rounds, endWithStream }: Asked): InputError[] {
  if (rounds === undefined) {
    return endWithStream === true ? [{ path: '/options/endWithStream', message: 'needs rounds, which it ends' }] : [];
  }
  return flows === 1 ? [] : [{ path: '/options/flows', message: 'must be 1 with rounds: they follow one flow' }];
}

export const packetCount = (description: string): ReturnType<typeof Type.Integer> =>
  Type.Integer({ minimum: 0, maximum: 640, description });

export const hopStatsSchema = Type.Object(
  {
    sent: packetCount('Packets whose answer is no longer awaited: the number of `rtts`.'),
    received: packetCount('Packets that were answered from this hop.'),
    loss: nullable(
      Type.Number({ minimum: 0, maximum: 1, description: 'Share of the packets that nothing at this hop answered.' }),
    ),
    rttMin: nullable(durationSchema),
    rttAvg: nullable(durationSchema),
    rttMax: nullable(durationSchema),
    rttStdDev: nullable(
      Type.Number({
        minimum: 0,
        description: 'Standard deviation of the round-trip times (of the sample: n − 1), milliseconds.',
      }),
    ),
    jitter: nullable(
      Type.Number({
        minimum: 0,
        description: 'Mean of the absolute differences of neighbouring replies, milliseconds; null below two replies.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'HopStats',
    description:
      'Figures of the rounds, as mtr shows them. Loss at one hop and not beyond it is a router that answers some packets only.',
  },
);

export type HopStats = Static<typeof hopStatsSchema>;
