import { durationSchema, failureSchema, nullable, resolutionField, Type } from '@vantage/contract';
import { type AnswerKind, answerKinds } from '@vantage/contract/dns-message';

import { dnsTransports } from './resolver.ts';

const recordSchema = Type.Object(
  {
    name: Type.String({ maxLength: 1024, description: 'Owner, fully qualified, in presentation format.' }),
    type: Type.String({ maxLength: 16, description: 'Record type; TYPE<n> for one without a name.' }),
    ttl: Type.Integer({ minimum: 0, maximum: 0xff_ff_ff_ff, description: 'Seconds.' }),
    data: Type.String({ maxLength: 4096, description: 'The data in presentation format, as dig writes it.' }),
  },
  { additionalProperties: false, title: 'DNS record' },
);

const section = (description: string) => Type.Array(recordSchema, { maxItems: 50, description });

const rcodeSchema = Type.String({ maxLength: 16, description: 'NOERROR, NXDOMAIN, SERVFAIL …; RCODE<n> otherwise.' });

const ednsSchema = Type.Object(
  {
    version: Type.Integer({ minimum: 0, maximum: 255 }),
    udpSize: Type.Integer({ minimum: 0, maximum: 65535, description: 'Largest UDP answer it takes, bytes.' }),
    dnssecOk: Type.Boolean({ description: 'The DO bit.' }),
    nsid: nullable(
      Type.Object(
        {
          hex: Type.String({ maxLength: 512, description: 'The identifier as hexadecimal digits.' }),
          text: Type.String({ maxLength: 256, description: 'The same as text, for identifiers that are text.' }),
        },
        { additionalProperties: false, description: 'Identifier of the name server (RFC 5001).' },
      ),
    ),
    extendedErrors: Type.Array(
      Type.Object(
        {
          code: Type.Integer({ minimum: 0, maximum: 65535 }),
          name: Type.String({ maxLength: 64 }),
          text: Type.String({ maxLength: 256, description: 'Extra text of the resolver.' }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 8, description: 'Extended DNS errors (RFC 8914).' },
    ),
  },
  { additionalProperties: false },
);

const traceRowSchema = Type.Object(
  {
    zone: Type.String({ maxLength: 256, description: 'The zone whose servers were asked, fully qualified.' }),
    server: Type.String({ maxLength: 256, description: 'Name of the server.' }),
    address: nullable(Type.String({ maxLength: 45, description: 'The address that was asked.' })),
    rt: nullable(durationSchema),
    rcode: nullable(rcodeSchema),
    authoritative: nullable(Type.Boolean({ description: 'The AA bit of the answer.' })),
    referral: nullable(
      Type.String({ maxLength: 256, description: 'The zone below that the answer leads to; null for a last answer.' }),
    ),
    records: section(
      'The records of a referral, within the bounds of the whole result; those of the last answer are in `answers`.',
    ),
    error: nullable(failureSchema),
  },
  { additionalProperties: false, title: 'DNS trace row' },
);

/** The fields of a result of the check type. */
export const resultFields = {
  ...resolutionField,
  recordType: Type.String({ maxLength: 10, description: 'The requested record type, in upper case.' }),
  queryName: Type.String({
    maxLength: 1024,
    description: 'The requested name, fully qualified: the reverse name of an address.',
  }),
  rcode: rcodeSchema,
  answerKind: Type.Enum(Object.keys(answerKinds) as [AnswerKind, ...AnswerKind[]], {
    description: `The class of the answer: ${Object.entries(answerKinds)
      .map(([kind, meaning]) => `${kind}: ${meaning}`)
      .join('; ')}.`,
  }),
  canonicalName: nullable(
    Type.String({
      maxLength: 1024,
      description: 'The name at the end of the aliases (CNAME, DNAME) in the answer; null for a name that is no alias.',
    }),
  ),
  referral: nullable(
    Type.String({
      maxLength: 1024,
      description: 'The zone whose name servers the answer has in place of records; null if none.',
    }),
  ),
  formatError: nullable(
    Type.String({
      maxLength: 256,
      description:
        'Error in the format of the answer; null for a valid message. The readable part is shown, a malformed ' +
        'record as `\\# <length> <hex>`. Octets after the last record are no failure.',
    }),
  ),
  flags: Type.Array(Type.Enum(['qr', 'aa', 'tc', 'rd', 'ra', 'ad', 'cd']), {
    maxItems: 7,
    description: 'The flags of the answer that are set, in the order of the header.',
  }),
  answers: section(
    'The answer section. The first A or AAAA record of the name or of its canonical name is also `resolvedIp`, ' +
      'which is null otherwise.',
  ),
  authority: section('The authority section.'),
  additional: section('The additional section, without the OPT record.'),
  truncated: Type.Boolean({
    description:
      'True if records were omitted or cut: 50 records, 4 KiB each and 16 KiB in total are shown. Also if the answer is truncated (TC).',
  }),
  resolver: nullable(
    Type.String({
      maxLength: 53,
      description:
        'Address of the server that answered, else of the resolver that was asked last, with the port if it is ' +
        'not the usual one; null for the probe’s own resolver at a private address.',
    }),
  ),
  transport: Type.Enum([...dnsTransports], {
    description: 'Transport of the answer; tcp after a truncated udp answer.',
  }),
  size: Type.Integer({
    minimum: 0,
    maximum: 65535,
    description: 'Size of the answer, bytes, with any after its end.',
  }),
  timings: Type.Object(
    {
      connect: nullable(durationSchema),
      tls: nullable(durationSchema),
      query: durationSchema,
    },
    {
      additionalProperties: false,
      description:
        'Milliseconds for the TCP handshake, the TLS handshake, and from the query that was answered to its ' +
        'answer, which is `rt`; null if there is no such phase.',
    },
  ),
  edns: nullable(ednsSchema),
  dnssec: Type.Object(
    {
      ad: Type.Boolean({ description: 'The AD bit of the answer. Some resolvers only repeat that of the query.' }),
      verdict: Type.Enum(['validated', 'not_validated', 'validation_failed', 'unknown'], {
        description:
          'validated: the resolver says that it has validated the answer: it sets AD when it is asked for DNSSEC ' +
          'records, and not when nothing asks for it (RFC 6840); not_validated: an answer without it, from an ' +
          'unsigned zone or a resolver that does not validate; validation_failed: SERVFAIL that turns into an ' +
          'answer when validation is switched off (CD), and whose extended errors name no other cause; ' +
          'unknown: no statement is possible, or the AD bit does not follow the question.',
      }),
    },
    { additionalProperties: false },
  ),
  trace: Type.Array(traceRowSchema, {
    maxItems: 20,
    description: 'With the option `trace`: one row per server, from the root on.',
  }),
  family: Type.Enum([4, 6], {
    description:
      'Address family that was asked over, with the option `family`. Absent from agents that do not know it.',
  }),
};
