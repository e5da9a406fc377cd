import { nullable, Type } from '@vantage/contract';

/** Result fields: sizes of packets that the path carries. */
export const mtuResults = {
  pathMtu: nullable(
    Type.Integer({
      minimum: 68,
      maximum: 65_535,
      description:
        'Largest echo request, in bytes, that reached the target or that a router reported; null if unknown. None ' +
        'larger than 1,500 is sent: the path may carry more.',
    }),
  ),
  mtuBlackHole: nullable(
    Type.Integer({
      minimum: 69,
      maximum: 65_535,
      description:
        'Smallest echo request, in bytes, that got neither an answer nor an ICMP error each time, while smaller ones are answered ' +
        'by the target or a router that refuses them; null without such a black hole, or if none is proved.',
    }),
  ),
  fullSize: Type.Object(
    {
      bytes: Type.Integer({
        minimum: 68,
        maximum: 1_500,
        description: 'Their size: 1,500, or the MTU that the probe’s link or a router reported to them.',
      }),
      arrives: Type.Boolean({
        description:
          'True if the target answered one; false if all vanished without an ICMP error, and small ones sent between them were answered.',
      }),
    },
    {
      additionalProperties: false,
      description:
        'Large packets of the trace’s own protocol, udp or tcp (SYNs with data), after the trace. Absent if neither is proved, of icmp, with `size`, ' +
        'and from an agent that does not send them.',
    },
  ),
};
