import { type AnswerKind, answerKinds } from '@vantage/contract/dns-message';
import {
  defineCheckType,
  durationSchema,
  failureSchema,
  familiesSchema,
  jobOverFamilies,
  nullable,
  type InputError,
  resolutionField,
  resolutionRules,
  trafficOverFamilies,
  Type,
  withOtherFamily,
} from '@vantage/contract';

import { parseRecordType } from './codec/record-types.ts';
import { looksLikeAddress, parseResolver, resolverErrors } from './resolver.ts';

export const DNS_BUDGET_MS = 10_000;
export const TRACE_BUDGET_MS = 20_000;

export const dnsTransports = ['udp', 'tcp', 'tls', 'https'] as const;
export type DnsTransport = (typeof dnsTransports)[number];

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

export const dns = defineCheckType({
  type: 'dns',
  title: 'DNS',
  summary: 'DNS record lookup: one question to a resolver, and every section of its answer.',
  hostKind: 'name',
  purpose: 'dns',
  fields: {
    recordType: Type.String({
      default: 'A',
      minLength: 1,
      maxLength: 10,
      description:
        'Record type to ask for, in any case: A, AAAA, CAA, CNAME, DNSKEY, DS, HTTPS, MX, NAPTR, NS, PTR, ' +
        'SOA, SRV, SVCB, ' +
        'TLSA, TXT …, or TYPE<number>. With PTR the host may be an address. No ANY, AXFR or IXFR.',
      examples: ['MX'],
    }),
  },
  options: {
    resolver: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 260,
        description:
          'Resolver to ask: a host name or an address, with `:port` if it is not the default port of the ' +
          'transport (53, 853 or 443 only). Default: the resolver of the probe.',
        examples: ['9.9.9.9', 'dns.google'],
      }),
    ),
    transport: Type.Enum([...dnsTransports], {
      default: 'udp',
      description:
        'udp: with TCP if the answer is truncated; tcp; tls: DNS over TLS (RFC 7858); https: DNS over HTTPS ' +
        '(RFC 8484, POST to /dns-query). The certificate must be valid for the given resolver.',
    }),
    dnssecOk: Type.Boolean({ default: false, description: 'Ask for DNSSEC records (DO bit).' }),
    checkingDisabled: Type.Boolean({ default: false, description: 'Ask the resolver not to validate (CD bit).' }),
    recursionDesired: Type.Boolean({ default: true, description: 'Ask the resolver to resolve (RD bit).' }),
    nsid: Type.Boolean({ default: false, description: 'Ask the server for its identifier (RFC 5001).' }),
    trace: Type.Boolean({
      default: false,
      description:
        'Follow the delegations from the root instead of asking a resolver. The row of each server asked is ' +
        'in `trace`.',
    }),
    family: Type.Optional({
      ...familiesSchema,
      description:
        'Address family of the packets to the resolver, or with `trace` to the name servers; which records are asked for depends on `recordType` alone. ' +
        'Default: any that the probe has, IPv4 first. `both`: each probe asks over IPv4 and IPv6 at the same time, and `otherFamily` of its result has the ' +
        'second answer.',
    }),
  },
  rules: resolutionRules,
  result: withOtherFamily({
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
        description:
          'The name at the end of the aliases (CNAME, DNAME) in the answer; null for a name that is no alias.',
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
          'Error in the format of the answer; null for a valid message. The readable part is shown, a ' +
          'malformed record as `\\# <length> <hex>`. Octets after the last record are no failure.',
      }),
    ),
    flags: Type.Array(Type.Enum(['qr', 'aa', 'tc', 'rd', 'ra', 'ad', 'cd']), {
      maxItems: 7,
      description: 'The flags of the answer that are set, in the order of the header.',
    }),
    answers: section(
      'The answer section. The first A or AAAA record of the name or of its canonical name is also ' +
        '`resolvedIp`, which ' +
        'is null otherwise.',
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
          'Address of the server that answered, else of the resolver that was asked last, with the port if ' +
          'it is not ' +
          'the usual one; null for the probe’s own resolver at a private address.',
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
          'answer, ' +
          'which is `rt`; null if there is no such phase.',
      },
    ),
    edns: nullable(ednsSchema),
    dnssec: Type.Object(
      {
        ad: Type.Boolean({ description: 'The AD bit of the answer. Some resolvers only repeat that of the query.' }),
        verdict: Type.Enum(['validated', 'not_validated', 'validation_failed', 'unknown'], {
          description:
            'validated: the resolver says that it has validated the answer: it sets AD when it is asked for ' +
            'DNSSEC records, and not ' +
            'when nothing asks for it (RFC 6840); not_validated: an answer without it, from an unsigned zone or ' +
            'a resolver that ' +
            'does not validate; validation_failed: SERVFAIL that turns into an answer when validation is ' +
            'switched off (CD), and whose ' +
            'extended errors name no other cause; ' +
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
  }),
  requiredOnSuccess: [
    'recordType',
    'queryName',
    'rcode',
    'flags',
    'answers',
    'authority',
    'additional',
    'resolver',
    'transport',
    'size',
    'dnssec',
  ],
  needsRawSockets: false,
  // Bounds for one answer over TCP, or for all queries of a trace.
  traffic: ({ options }) => trafficOverFamilies(options, { packets: 48, bytes: 128 * 1024 }),
  jobParams: jobOverFamilies,
  budgetMs: ({ options }) => (options.trace ? TRACE_BUDGET_MS : DNS_BUDGET_MS),
  inputRules: [
    ({ host, recordType }) => recordTypeErrors(host, recordType),
    ({ options }) => resolverErrors(options),
    ({ options }) => (options.trace ? traceErrors(options) : []),
  ],
  canonicalFields: ({ recordType }) => {
    const parsed = parseRecordType(recordType);
    return parsed.ok ? { recordType: parsed.recordType.name } : {};
  },
  otherTargets: ({ options }) => {
    const resolver = options.resolver === undefined ? undefined : parseResolver(options.resolver);
    return resolver === undefined ? [] : [{ path: '/options/resolver', purpose: 'dns', ...resolver }];
  },
});

function recordTypeErrors(host: string, recordType: string): InputError[] {
  const parsed = parseRecordType(recordType);
  if (!parsed.ok) return [{ path: '/recordType', message: parsed.reason }];
  if (looksLikeAddress(host) && parsed.recordType.name !== 'PTR') {
    return [{ path: '/recordType', message: 'An address has PTR records only: ask for PTR, or give a name.' }];
  }
  return [];
}

function traceErrors(options: { readonly resolver?: string; readonly transport: DnsTransport }): InputError[] {
  const errors: InputError[] = [];
  if (options.resolver !== undefined) {
    errors.push({ path: '/options/resolver', message: 'A trace asks the servers of each zone; it takes no resolver.' });
  }
  if (options.transport === 'tls' || options.transport === 'https') {
    errors.push({ path: '/options/transport', message: 'A trace goes over udp or tcp.' });
  }
  return errors;
}
