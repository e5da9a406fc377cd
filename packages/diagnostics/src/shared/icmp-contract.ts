import { addressSchema, nullable, Type, type Family, type Static } from '@vantage/contract';

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

/** Codes of ICMP destination unreachable about a route, scope or host (RFC 792, RFC 1812 section 5.2.7.1; RFC 4443). */
const undelivered: Readonly<Record<Family, { readonly type: number; readonly codes: readonly number[] }>> = {
  4: { type: 3, codes: [0, 1, 6, 7, 8, 11, 12] },
  6: { type: 1, codes: [0, 2, 3] },
};

/** True for an error by which a device that forwards reports that it found no route or no host. */
export function isUndelivered(family: Family, { type, code }: Pick<IcmpNotice, 'type' | 'code'>): boolean {
  return undelivered[family].type === type && undelivered[family].codes.includes(code);
}

/** A field of results that depend on ICMP errors. */
export const icmpUnreadSchema = Type.Boolean({
  description:
    'True if the probe could not read ICMP errors because it lacks its packet process: silence may be a ' +
    'refusal, and type and sender of a refusal are unknown. Absent otherwise.',
});
