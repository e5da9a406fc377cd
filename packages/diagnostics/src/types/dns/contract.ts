import {
  defineCheckType,
  familiesSchema,
  jobOverFamilies,
  type InputError,
  resolutionRules,
  trafficOverFamilies,
  Type,
  withOtherFamily,
} from '@vantage/contract';

import { parseRecordType } from './codec/record-types.ts';
import { dnsTransports, looksLikeAddress, parseResolver, resolverErrors, type DnsTransport } from './resolver.ts';
import { resultFields } from './result-fields.ts';

export const DNS_BUDGET_MS = 10_000;
export const TRACE_BUDGET_MS = 20_000;

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
        'Record type to ask for, in any case: A, AAAA, CAA, CNAME, DNSKEY, DS, HTTPS, MX, NAPTR, NS, PTR, SOA, ' +
        'SRV, SVCB, TLSA, TXT …, or TYPE<number>. With PTR the host may be an address. No ANY, AXFR or IXFR.',
      examples: ['MX'],
    }),
  },
  options: {
    resolver: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 260,
        description:
          'Resolver to ask: a host name or an address, with `:port` if it is not the default port of the transport ' +
          '(53, 853 or 443 only). Default: the resolver of the probe.',
        examples: ['9.9.9.9', 'dns.google'],
      }),
    ),
    transport: Type.Enum([...dnsTransports], {
      default: 'udp',
      description:
        'udp: with TCP if the answer is truncated; tcp; tls: DNS over TLS (RFC 7858); https: DNS over HTTPS (RFC ' +
        '8484, POST to /dns-query). The certificate must be valid for the given resolver.',
    }),
    dnssecOk: Type.Boolean({ default: false, description: 'Ask for DNSSEC records (DO bit).' }),
    checkingDisabled: Type.Boolean({ default: false, description: 'Ask the resolver not to validate (CD bit).' }),
    recursionDesired: Type.Boolean({ default: true, description: 'Ask the resolver to resolve (RD bit).' }),
    nsid: Type.Boolean({ default: false, description: 'Ask the server for its identifier (RFC 5001).' }),
    trace: Type.Boolean({
      default: false,
      description:
        'Follow the delegations from the root instead of asking a resolver. The row of each server asked is in ' +
        '`trace`.',
    }),
    family: Type.Optional({
      ...familiesSchema,
      description:
        'Address family of the packets to the resolver, or with `trace` to the name servers; which records are ' +
        'asked for depends on `recordType` alone. Default: any that the probe has, IPv4 first. `both`: each ' +
        'probe asks over IPv4 and IPv6 at the same time, and `otherFamily` of its result has the second answer.',
    }),
  },
  rules: resolutionRules,
  result: withOtherFamily(resultFields),
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
