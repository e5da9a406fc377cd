import { addressesField } from '../../shared/address-fields.ts';
import {
  defineCheckType,
  durationSchema,
  failureSchema,
  familiesSchema,
  familyErrors,
  jobOverFamilies,
  MAX_EXPRESSION_LENGTH,
  nullable,
  resolutionField,
  resolutionRules,
  trafficOverFamilies,
  withOtherFamily,
  Type,
  type Static,
} from '@vantage/contract';

import { icmpErrorSchema, icmpUnreadSchema } from '../../shared/icmp-contract.ts';
import { tlsRules } from '../../tls/rules.ts';
import { tlsSchema } from '../../tls/schema.ts';

/** Time one handshake of a client's check may take: enough for one SYN retransmission (RFC 6298, 1 s). */
export const ATTEMPT_TIMEOUT_MS = 2_000;

/**
 * Maximum number of SYNs of a handshake: in `ATTEMPT_TIMEOUT_MS`, and in the 60 s of a module. Linux since 6.5 repeats
 * the first ones each second (`tcp_syn_linear_timeouts`).
 */
const SYNS = { ofClient: 3, ofModule: 10 } as const;

/** Limit of the steps of a dialogue. */
export const MAX_DIALOGUE_STEPS = 32;
/** Limit of one line to send, characters. */
export const MAX_SEND_LENGTH = 1_024;
/**
 * Limit of the bytes that the target sends before a start of TLS or the end of a dialogue, and of all bytes that the
 * probe sends.
 */
export const MAX_DIALOGUE_BYTES = 65_536;
/**
 * Traffic of a TLS handshake and a dialogue, with the data that the target has sent by the time the connection is
 * closed, and of a connection before it whose handshake needed other groups.
 */
const DIALOGUE_TRAFFIC = { packets: 48, bytes: 128 * 1024 + 3 * MAX_DIALOGUE_BYTES };

const expression = Type.String({ maxLength: MAX_EXPRESSION_LENGTH });

const timeoutMs = Type.Integer({ minimum: 0, maximum: 60_000, description: 'Time for the whole run.' });

/** `tls` and `query_response` of a module. No client can set them. */
const dialogueRules = Type.Object(
  {
    timeoutMs,
    tls: Type.Boolean({ description: 'True if the connection begins with a TLS handshake.' }),
    tlsOptions: tlsRules,
    steps: Type.Array(
      Type.Object({
        expect: Type.Optional({
          ...expression,
          description: 'Expression of RE2 that a line of the target must match.',
        }),
        send: Type.Optional(
          Type.String({
            maxLength: MAX_SEND_LENGTH,
            description: 'Line to send; `${1}` and `${name}` are groups of the matched line.',
          }),
        ),
        startTls: Type.Boolean({ description: 'True if a TLS handshake follows.' }),
      }),
      { maxItems: MAX_DIALOGUE_STEPS },
    ),
  },
  { description: 'Lines to expect and to send once connected.' },
);

export type DialogueRules = Static<typeof dialogueRules>;

/** The rules of a job, in addition to the parameters of a client's check. */
interface WithRules {
  readonly rules?: { readonly dialogue?: DialogueRules; readonly timeoutMs?: number };
}

export function dialogueOf(params: object): DialogueRules | undefined {
  return (params as WithRules).rules?.dialogue;
}

/** Time for the whole run of a module; undefined for the check of a client. */
export function timeoutOf(params: object): number | undefined {
  return dialogueOf(params)?.timeoutMs ?? (params as WithRules).rules?.timeoutMs;
}

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
      description: `Handshakes to try, one after another. Each may take ${ATTEMPT_TIMEOUT_MS / 1000} s.`,
    }),
    family: Type.Optional(familiesSchema),
  },
  rules: { ...resolutionRules, dialogue: Type.Optional(dialogueRules), timeoutMs: Type.Optional(timeoutMs) },
  result: withOtherFamily({
    ...resolutionField,
    ...addressesField,
    dialogue: Type.Object(
      {
        steps: Type.Integer({ minimum: 0, description: 'Entries of the module that were completed.' }),
        unmatched: Type.Boolean({
          description: 'True if the target closed the connection before a line matched the expression.',
        }),
      },
      { additionalProperties: false, description: 'Only in scrapes with a module that has `query_response` or `tls`.' },
    ),
    tls: { ...tlsSchema, description: 'Only in scrapes: the TLS connection of the module.' },
    state: Type.Enum(['open', 'closed', 'filtered'], {
      description:
        `open: the handshake completed; closed: refused by RST; filtered: silence, also of a target that answers after more than the ${ATTEMPT_TIMEOUT_MS / 1000} s of a handshake, ` +
        'or an ICMP error, port unreachable included.',
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
  }),
  requiredOnSuccess: ['state', 'port', 'attempts'],
  needsRawSockets: false,
  traffic: (params) => {
    const syns = timeoutOf(params) === undefined ? SYNS.ofClient : SYNS.ofModule;
    // An ACK and a RST follow the SYNs of each handshake.
    const packets = params.options.attempts * (syns + 2);
    const more = dialogueOf(params) === undefined ? { packets: 0, bytes: 0 } : DIALOGUE_TRAFFIC;
    const bytes = packets * 2 * 80 + more.bytes;
    return trafficOverFamilies(params.options, { packets: packets + more.packets, bytes });
  },
  inputRules: [({ host, options }) => familyErrors(options, host)],
  jobParams: jobOverFamilies,
  budgetMs: (params) => Math.max(timeoutOf(params) ?? 0, params.options.attempts * ATTEMPT_TIMEOUT_MS + 3_000),
});
