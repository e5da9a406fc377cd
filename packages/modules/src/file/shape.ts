import { acceptsEncoding } from './accept-encoding.ts';
import { listOf, mapOf, struct, type ValueOf } from './decode.ts';
import { queryClasses, queryTypes } from './dns-names.ts';
import { httpClientFaults, httpClientFields, tlsConfig } from './http-client.ts';
import { bool, bytes, duration, goInteger, regexp, string } from './kinds.ts';

const family = { preferred_ip_protocol: string, ip_protocol_fallback: bool } as const;

const headerMatch = struct({ header: string, regexp, allow_missing: bool }, ({ header = '', regexp: text = '' }) => [
  ...(header === '' ? [[['header'], 'a header matcher needs header'] as const] : []),
  ...(text === '' ? [[['regexp'], 'a header matcher needs regexp'] as const] : []),
]);

const http = struct(
  {
    ...family,
    ...httpClientFields,
    valid_status_codes: listOf(goInteger),
    valid_http_versions: listOf(string),
    skip_resolve_phase_with_proxy: bool,
    no_follow_redirects: bool,
    fail_if_ssl: bool,
    fail_if_not_ssl: bool,
    method: string,
    headers: mapOf(string, ''),
    fail_if_body_matches_regexp: listOf(regexp),
    fail_if_body_not_matches_regexp: listOf(regexp),
    fail_if_header_matches: listOf(headerMatch),
    fail_if_header_not_matches: listOf(headerMatch),
    body: string,
    compression: string,
    body_size_limit: bytes,
  },
  (value) => {
    const { compression = '' } = value;
    const refused = [...(value.headers ?? [])].find(
      ([name, text]) => name.toLowerCase() === 'accept-encoding' && !acceptsEncoding(compression, text),
    );
    const message = `the header ${refused?.[0]} does not ask for compression: ${compression}`;
    return [
      ...httpClientFaults(value),
      ...(refused === undefined ? [] : [[['headers', 'compression'], message] as const]),
    ];
  },
);

const queryResponse = struct({ expect: regexp, send: string, starttls: bool });

const tcp = struct({
  ...family,
  source_ip_address: string,
  query_response: listOf(queryResponse),
  tls: bool,
  tls_config: tlsConfig,
});

const icmp = struct(
  { ...family, source_ip_address: string, payload_size: goInteger, dont_fragment: bool, ttl: goInteger },
  ({ ttl = 0 }) => (ttl < 0 || ttl > 255 ? [[['ttl'], 'ttl must be from 0 to 255']] : []),
);

/**
 * blackbox_exporter compiles these expressions at each probe, not when it reads the file, in which any text is
 * therefore valid.
 */
const recordRules = struct({
  fail_if_matches_regexp: listOf(string),
  fail_if_all_match_regexp: listOf(string),
  fail_if_not_matches_regexp: listOf(string),
  fail_if_none_matches_regexp: listOf(string),
});

const dns = struct(
  {
    ...family,
    dns_over_tls: bool,
    tls_config: tlsConfig,
    source_ip_address: string,
    transport_protocol: string,
    query_class: string,
    query_name: string,
    query_type: string,
    recursion_desired: bool,
    valid_rcodes: listOf(string),
    validate_answer_rrs: recordRules,
    validate_authority_rrs: recordRules,
    validate_additional_rrs: recordRules,
  },
  ({ query_name: name = '', query_class: queryClass = '', query_type: type = '' }) => {
    const isClass = queryClass === '' || queryClasses.has(queryClass);
    const isType = type === '' || queryTypes.has(type);
    return [
      ...(name === '' ? [[['query_name'], 'query_name is required'] as const] : []),
      ...(isClass ? [] : [[['query_class'], `unknown query_class "${queryClass}"`] as const]),
      ...(isType ? [] : [[['query_type'], `unknown query_type "${type}"`] as const]),
    ];
  },
);

const grpc = struct({ ...family, service: string, tls: bool, tls_config: tlsConfig });

const module = struct({ prober: string, timeout: duration, http, tcp, icmp, dns, grpc });

/** The file of blackbox_exporter as accepted by its release 0.23. */
export const modulesFile = struct({ modules: mapOf(module, {}) });

export type RawModule = ValueOf<typeof module>;
export type RawHttp = ValueOf<typeof http>;
export type RawTcp = ValueOf<typeof tcp>;
export type RawIcmp = ValueOf<typeof icmp>;
export type RawDns = ValueOf<typeof dns>;
export type RawTls = ValueOf<typeof tlsConfig>;
