import {
  defineCheckType,
  durationSchema,
  failureSchema,
  familySchema,
  nullable,
  resolutionField,
  resolutionRules,
} from '@vantage/contract';
import { Type } from 'typebox';

import { icmpErrorSchema, icmpUnreadSchema } from '../../shared/icmp-contract.ts';

/** Time one handshake may take: enough for one SYN retransmission (RFC 6298, 1 s). */
export const ATTEMPT_TIMEOUT_MS = 2_000;

export const tcp = defineCheckType({
  type: 'tcp',
  title: 'TCP',
  summary: 'TCP port connectivity: a handshake only; no data is sent.',
  hostKind: 'host',
  purpose: 'tcp',
  fields: {
    port: Type.Integer({ minimum: 1, maximum: 65535, description: 'Port to connect to.', examples: [443] }),
  },
  options: {
    attempts: Type.Integer({
      minimum: 1,
      maximum: 3,
      default: 3,
      description: 'Handshakes to try, one after another.',
    }),
    family: Type.Optional(familySchema),
  },
  rules: resolutionRules,
  result: {
    ...resolutionField,
    state: Type.Enum(['open', 'closed', 'filtered'], {
      description:
        'open: the handshake completed; closed: refused by RST; filtered: silence or an ICMP error, port ' +
        'unreachable included.',
    }),
    port: Type.Integer({ minimum: 1, maximum: 65535 }),
    icmp: nullable(
      icmpErrorSchema('The ICMP error in reply to a SYN, null if none arrived or the probe could not read it.'),
    ),
    icmpUnread: icmpUnreadSchema,
    attempts: Type.Array(
      Type.Object({ rt: nullable(durationSchema), error: nullable(failureSchema) }, { additionalProperties: false }),
      { maxItems: 3, description: 'One row per handshake: its RTT, or the error.' },
    ),
  },
  requiredOnSuccess: ['state', 'port', 'attempts'],
  needsRawSockets: false,
  // SYN, and again after one second and after three; ACK and RST.
  traffic: ({ options: { attempts } }) => ({ packets: attempts * 5, bytes: attempts * 5 * 2 * 80 }),
  budgetMs: ({ options }) => options.attempts * ATTEMPT_TIMEOUT_MS + 3_000,
});
