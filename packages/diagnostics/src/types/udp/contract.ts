import { addressesField } from '../../shared/address-fields.ts';
import {
  allowsPayload,
  amplificationPorts,
  defineCheckType,
  durationSchema,
  failureSchema,
  familySchema,
  HEX_BYTES_PATTERN,
  nullable,
  Type,
} from '@vantage/contract';

import { icmpErrorSchema, icmpUnreadSchema } from '../../shared/icmp-contract.ts';

/** Waits of an attempt, one after each of its datagrams: the loss of one packet must not look like a silent port. */
export const DATAGRAM_WAITS_MS = [1_000, 1_000] as const;
/** Time from the start of an attempt to the next one, and wait for a response after the last datagram. */
export const ATTEMPT_WAIT_MS = DATAGRAM_WAITS_MS.reduce((sum, waitMs) => sum + waitMs, 0);

/**
 * Duration of a check of a silent port, without the resolution of its name: after the last datagram it waits for
 * `ATTEMPT_WAIT_MS`.
 */
function silentMs(attempts: number): number {
  const [, lastWaitMs] = DATAGRAM_WAITS_MS;
  return attempts * ATTEMPT_WAIT_MS - lastWaitMs + ATTEMPT_WAIT_MS;
}

/** Number of leading bytes of an answer in the result. */
export const MAX_RESPONSE_BYTES = 256;

const MAX_PAYLOAD_BYTES = 512;
/** Headers of Ethernet, IPv6 and UDP, and the largest answer. */
const [HEADER_BYTES, MAX_DATAGRAM_BYTES] = [62, 65_535];

export const udp = defineCheckType({
  type: 'udp',
  title: 'UDP',
  summary: 'UDP port connectivity: the protocol payload of the port, or an empty datagram, and the reply.',
  hostKind: 'host',
  purpose: 'udp',
  fields: {
    port: Type.Integer({ minimum: 1, maximum: 65535, description: 'Port to send to.', examples: [53] }),
  },
  options: {
    payload: Type.Optional(
      Type.String({
        maxLength: MAX_PAYLOAD_BYTES * 2,
        pattern: HEX_BYTES_PATTERN,
        description:
          `Payload to send instead, hexadecimal, at most ${MAX_PAYLOAD_BYTES} bytes. Not on amplification ports ` +
          `(${amplificationPorts.join(', ')}).`,
        examples: ['68656c6c6f'],
      }),
    ),
    attempts: Type.Integer({
      minimum: 1,
      maximum: 3,
      default: 3,
      description:
        'Attempts, two seconds apart, until a reply arrives. Each sends its datagram again after a second; a reply to the last one is awaited for two.',
    }),
    family: Type.Optional(familySchema),
  },
  result: {
    ...addressesField,
    state: Type.Enum(['open', 'closed', 'open|filtered', 'unreachable'], {
      description:
        'open: something answered from the port; closed: ICMP port unreachable of the target itself, or of a ' +
        'sender that ' +
        'the probe cannot read; unreachable: another ICMP error, or port unreachable in the name of another address; ' +
        'open|filtered: silence, which a service that does not know the question keeps too.',
    }),
    port: Type.Integer({ minimum: 1, maximum: 65535 }),
    payload: Type.String({
      maxLength: 2 * 1_500,
      description: 'The sent payload, hexadecimal; empty for an empty datagram.',
    }),
    responseBytes: Type.Integer({ minimum: 0, maximum: 65535, description: 'Size of the answer, bytes.' }),
    response: Type.String({
      maxLength: 344,
      description: `The first ${MAX_RESPONSE_BYTES} bytes of the answer, base64.`,
    }),
    icmp: nullable(
      icmpErrorSchema(
        'The ICMP error in reply, null if none arrived or its type is unknown. The sender is null if the ' +
          'probe has no raw sockets.',
      ),
    ),
    icmpUnread: icmpUnreadSchema,
    attempts: Type.Array(
      Type.Object({ rt: nullable(durationSchema), error: nullable(failureSchema) }, { additionalProperties: false }),
      { maxItems: 3, description: 'One row per attempt: time from the answered datagram to its reply, or the error.' },
    ),
  },
  requiredOnSuccess: ['state', 'port', 'payload', 'responseBytes', 'response', 'icmp', 'attempts'],
  needsRawSockets: false,
  traffic: ({ options: { attempts } }) => ({
    packets: attempts * DATAGRAM_WAITS_MS.length,
    bytes: attempts * DATAGRAM_WAITS_MS.length * (MAX_PAYLOAD_BYTES + HEADER_BYTES) + MAX_DATAGRAM_BYTES,
  }),
  budgetMs: ({ options }) => silentMs(options.attempts) + 3_000,
  inputRules: [
    ({ port, options }) =>
      options.payload === undefined || allowsPayload(port)
        ? []
        : [
            {
              path: '/options/payload',
              message: `No payload can be sent to port ${port}: its protocol can be made to amplify. Leave it out.`,
            },
          ],
  ],
});
