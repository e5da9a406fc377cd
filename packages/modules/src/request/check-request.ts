import { isDeepStrictEqual } from 'node:util';

import { checkTypes, type RequestRules } from '@vantage/diagnostics/contract';

import { isUserAgent } from '../plan/http-headers.ts';
import { DEFAULT_TLS } from '../plan/tls.ts';
import type { DnsModule, HttpModule, IcmpModule, Module, TcpModule } from '../plan/module.ts';

/** Body of `POST /check` for one scrape, without the selection of probes. */
export type ScrapeCheck =
  | {
      readonly ok: true;
      readonly body: Readonly<Record<string, unknown>>;
      /** `params.rules` of the job, which no client can set. */
      readonly rules?: Readonly<Record<string, unknown>> | undefined;
    }
  /** The target's form is not valid for the prober. */
  | { readonly ok: false; readonly message: string };

const MAX_PACKETS = 4;
const PACKET_INTERVAL_MS = 200;
/** Share of the budget for sending; the rest is for the replies. */
const SENDING_SHARE = 0.5;
const MAX_REDIRECTS = 10;
const CLIENT_METHODS: readonly string[] = checkTypes.http.options.method.enum;
const MAX_REQUEST_HEADERS = 20;
/** Rule that requests the time of the resolution in the result; results of http have it anyway. */
const TIMED = { resolve: true };
/** Bytes read of a body without a limit or rules in its module; reading more would make a check more expensive. */
const DEFAULT_BODY_BYTES = 65_536;
const MAX_BODY_BYTES = 1_048_576;

/**
 * Turns a module and a target into a check.
 *
 * @param budgetMs time until the scrape must be answered
 */
export function checkRequest(module: Module, target: string, budgetMs: number): ScrapeCheck {
  if (module.prober === 'icmp') return pingCheck(module, target, budgetMs);
  if (module.prober === 'traceroute') return traceCheck(target);
  if (module.prober === 'tcp') return tcpCheck(module, target, budgetMs);
  return module.prober === 'http' ? httpCheck(module, target, budgetMs) : dnsCheck(module, target);
}

function pingCheck({ family, payloadBytes: size, ttl }: IcmpModule, target: string, budgetMs: number): ScrapeCheck {
  const count = Math.min(MAX_PACKETS, 1 + Math.floor((budgetMs * SENDING_SHARE) / PACKET_INTERVAL_MS));
  return { ...check('ping', target, { count, interval: PACKET_INTERVAL_MS, size, family, ttl }), rules: TIMED };
}

/** With a port, the trace uses TCP: its packets take the path of the service on that port. */
function traceCheck(target: string): ScrapeCheck {
  const split = splitHostPort(target);
  if (split === undefined) return check('traceroute', target, {});
  return check('traceroute', split.host, { protocol: 'tcp', port: split.port });
}

function tcpCheck({ family, dialogue, tlsOptions }: TcpModule, target: string, budgetMs: number): ScrapeCheck {
  const split = splitHostPort(target);
  if (split === undefined) return { ok: false, message: 'must be host:port, an IPv6 address in brackets' };
  const request = check('tcp', split.host, { attempts: 1, family }, { port: split.port });
  if (dialogue === undefined) return { ...request, rules: { ...TIMED, timeoutMs: budgetMs } };
  return { ...request, rules: { ...TIMED, dialogue: { ...dialogue, tlsOptions, timeoutMs: budgetMs } } };
}

function check(
  type: string,
  host: string,
  options: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>> = {},
): Extract<ScrapeCheck, { readonly ok: true }> {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ok: true, body: { type, host, ...fields, options: given } };
}

function httpCheck(module: HttpModule, target: string, budgetMs: number): ScrapeCheck {
  const { followRedirects, http2, family, tlsOptions, bodyRules } = module;
  const url = /^https?:\/\//.test(target) ? target : `http://${target}`;
  const options = {
    ...(isClients(module) ? { method: module.method, headers: module.headers } : {}),
    family,
    screenshot: false,
    followRedirects: followRedirects ? MAX_REDIRECTS : 0,
    httpVersion: http2 ? 'auto' : '1.1',
    maxBodyBytes: bodyBytes(module),
  };
  const request = check('http', url, options, { insecureSSL: tlsOptions.insecure });
  const expressions = bodyRules.length === 0 ? undefined : bodyRules.map(({ regexp }) => regexp);
  // Agents of earlier releases do not know `request`, and refuse rules without `body`. So `body` is left out for
  // modules that they would measure wrongly.
  const forEarlier = needsMore(module) ? { expressions } : { body: expressions ?? [] };
  return { ...request, rules: { ...forEarlier, request: requestRules(module, budgetMs) } };
}

/** True if the options of a check may contain this method and these headers; if not, they are part of the rules. */
function isClients({ method, headers }: HttpModule): boolean {
  const names = Object.keys(headers);
  return CLIENT_METHODS.includes(method) && names.length <= MAX_REQUEST_HEADERS && !names.some(isUserAgent);
}

/** True if an agent that does not know `request` in the rules would measure something else. */
function needsMore(module: HttpModule): boolean {
  const { insecure: _, ...tls } = module.tlsOptions;
  const { host, body, compression, oauth2 } = module;
  const isNew = [host, body, compression, oauth2].some((option) => option !== undefined);
  return isNew || !isClients(module) || !isDeepStrictEqual({ insecure: false, ...tls }, DEFAULT_TLS);
}

function requestRules(module: HttpModule, timeoutMs: number): RequestRules {
  const { method, headers, host, body, oauth2, compression: coding, bodySizeLimit, tlsOptions } = module;
  const name = tlsOptions.serverName ?? host?.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return {
    timeoutMs,
    // Verify the certificate for the name in the Host header, unless the module names another.
    tls: { ...tlsOptions, ...(name === undefined ? {} : { serverName: name }) },
    ...(isClients(module) ? {} : { method, headers }),
    ...(host === undefined ? {} : { host }),
    ...(body === undefined ? {} : { body }),
    ...(oauth2 === undefined ? {} : { oauth2 }),
    ...(coding === undefined
      ? {}
      : { compression: { coding, maxBytes: bodySizeLimit === 0 ? MAX_BODY_BYTES : bodySizeLimit } }),
  };
}

/** Bytes to read of the body as transferred; `body_size_limit` counts decoded bytes. */
function bodyBytes({ bodySizeLimit, bodyRules, compression }: HttpModule): number {
  if (compression !== undefined) return MAX_BODY_BYTES;
  if (bodySizeLimit > 0) return bodySizeLimit;
  return bodyRules.length === 0 ? DEFAULT_BODY_BYTES : MAX_BODY_BYTES;
}

function dnsCheck({ transport, queryName, queryType, recursionDesired }: DnsModule, resolver: string): ScrapeCheck {
  const options = { transport, recursionDesired, resolver };
  return { ...check('dns', queryName, options, { recordType: queryType }), rules: TIMED };
}

/**
 * Splits `host:port` or `[host]:port`; the port must be a number from 1 to 65535. Undefined for any other text.
 */
function splitHostPort(target: string): { readonly host: string; readonly port: number } | undefined {
  const [, ipv6, other, digits] = /^(?:\[([^[\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(target) ?? [];
  const port = Number(digits);
  const host = ipv6 ?? other;
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}
