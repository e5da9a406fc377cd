import { addressSchema, nullable, Type, type Static } from '@vantage/contract';

/** An ICMP error about a packet of the check, as results show it. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- TypeBox infers it
export const icmpErrorSchema = (description: string) =>
  Type.Object(
    {
      type: Type.Integer({ minimum: 0, maximum: 255, description: 'ICMP or ICMPv6 type.' }),
      code: Type.Integer({ minimum: 0, maximum: 255 }),
      from: nullable(addressSchema),
      own: Type.Optional(
        Type.Boolean({
          description:
            'The probe itself sent it: its next hop, or the target on its own link, does not answer there, or its rules refuse the packet.',
        }),
      ),
      private: Type.Optional(Type.Boolean({ description: 'The sender has a private address, which is not shown.' })),
    },
    { additionalProperties: false, description },
  );

/** `from` is `null` if only the kernel's errno is known, and for a sender whose address is masked. */
export type IcmpNotice = Readonly<Static<ReturnType<typeof icmpErrorSchema>>>;

/** A field of results that depend on ICMP errors. */
export const icmpUnreadSchema = Type.Boolean({
  description:
    'True if the probe could not read ICMP errors because it lacks its packet process: silence may be a ' +
    'refusal, and type and sender of a refusal are unknown. Absent otherwise.',
});
