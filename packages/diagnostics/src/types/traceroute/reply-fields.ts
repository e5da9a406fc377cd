import { addressSchema, nullable, Type, type Static } from '@vantage/contract';

/** Maximum length of `answeredFrom`. */
export const MAX_ANSWERED_FROM = 4;

export const answeredFromSchema = Type.Array(addressSchema, {
  maxItems: MAX_ANSWERED_FROM,
  description:
    'Addresses from which the answers of the target came if none came from the measured one, as behind address ' +
    'translation; withheld ones are left out. Absent otherwise.',
});

/** Maximum number of different replies that are listed per hop. */
export const MAX_REPLIES = 16;

const rewrittenFields = ['source', 'destination', 'ports', 'checksum'] as const;

/** A field of a quoted packet that mere forwarding leaves unchanged, and NAT may rewrite. */
export type RewrittenField = (typeof rewrittenFields)[number];

const byte = (description: string) => Type.Integer({ minimum: 0, maximum: 255, description });

const interfaceSchema = Type.Object(
  {
    role: Type.Enum(['incoming', 'sub-ip', 'outgoing', 'next-hop'], {
      description: 'Whether the packet came or left there.',
    }),
    index: nullable(Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description: 'Its index on the router.' })),
    ip: nullable(addressSchema),
    name: nullable(Type.String({ maxLength: 256, description: 'Its name, escaped.' })),
    mtu: nullable(Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description: 'Its MTU in bytes.' })),
  },
  { additionalProperties: false },
);

export const replySchema = Type.Object(
  {
    responder: nullable(
      Type.Integer({
        minimum: 0,
        maximum: 639,
        description: 'Index in `responders` of who sent it; null for an error of a router before this hop.',
      }),
    ),
    ttl: nullable(byte('TTL or hop limit at arrival; null if not known.')),
    type: Type.Optional(byte('ICMP type; absent for a reply of the protocol itself. Over IPv6 that of ICMPv6.')),
    code: Type.Optional(byte('ICMP code.')),
    quotedTtl: Type.Optional(byte('TTL of the quoted packet, 1 as a rule if it ran out at a router.')),
    quotedDscp: Type.Optional(Type.Integer({ minimum: 0, maximum: 63, description: 'DSCP of the quoted packet.' })),
    rewritten: Type.Optional(
      Type.Array(Type.Enum(rewrittenFields), {
        maxItems: rewrittenFields.length,
        description: 'Fields of the quoted packet that are not as they were sent; absent if all are.',
      }),
    ),
    interfaces: Type.Optional(
      Type.Array(interfaceSchema, { maxItems: 4, description: 'Interfaces that the router names (RFC 5837).' }),
    ),
  },
  {
    additionalProperties: false,
    title: 'HopReply',
    description: 'Replies to packets of a hop that are alike. `quotedTtl` and what follows are of ICMP errors.',
  },
);

export type Reply = Static<typeof replySchema>;
