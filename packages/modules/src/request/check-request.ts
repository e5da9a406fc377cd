import type { DnsModule, HttpModule, IcmpModule, Module, TcpModule } from '../plan/module.ts';

/** Body of `POST /check` for one scrape, without the selection of probes. */
export type CheckRequest =
  | {
      readonly ok: true;
      readonly body: Readonly<Record<string, unknown>>;
      /** For `params.rules` of the job; no client can set them. */
      readonly rules?: Readonly<Record<string, unknown>> | undefined;
    }
  /** The target has no form that the prober takes. */
  | { readonly ok: false; readonly message: string };

const MAX_PACKETS = 4;
const PACKET_INTERVAL_MS = 200;
/** Of the budget, the share for sending; the rest is for the replies. */
const SENDING_SHARE = 0.5;
const MAX_REDIRECTS = 10;
/** The result of http has the time of the resolution anyway. */
const TIMED = { resolve: true };
/** Of a body whose module sets neither a limit nor rules: reading more makes a check more expensive. */
const DEFAULT_BODY_BYTES = 65_536;
const MAX_BODY_BYTES = 1_048_576;

/**
 * Turns a module and a target into a check.
 *
 * @param budgetMs time until the scrape must be answered
 */
export function checkRequest(module: Module, target: string, budgetMs: number): CheckRequest {
  if (module.prober === 'icmp') return pingCheck(module, target, budgetMs);
  if (module.prober === 'tcp') return tcpCheck(module, target, budgetMs);
  return module.prober === 'http' ? httpCheck(module, target) : dnsCheck(module, target);
}

function pingCheck({ family, payloadBytes: size, ttl }: IcmpModule, target: string, budgetMs: number): CheckRequest {
  const count = Math.min(MAX_PACKETS, 1 + Math.floor((budgetMs * SENDING_SHARE) / PACKET_INTERVAL_MS));
  return { ...check('ping', target, { count, interval: PACKET_INTERVAL_MS, size, family, ttl }), rules: TIMED };
}

function tcpCheck({ family, dialogue, tlsOptions }: TcpModule, target: string, budgetMs: number): CheckRequest {
  const split = splitHostPort(target);
  if (split === undefined) return { ok: false, message: 'must be host:port, an IPv6 address in brackets' };
  const request = check('tcp', split.host, { attempts: 1, family }, { port: split.port });
  if (dialogue === undefined) return { ...request, rules: TIMED };
  return { ...request, rules: { ...TIMED, dialogue: { ...dialogue, tlsOptions, timeoutMs: budgetMs } } };
}

function check(
  type: string,
  host: string,
  options: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>> = {},
): Extract<CheckRequest, { readonly ok: true }> {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ok: true, body: { type, host, ...fields, options: given } };
}

function httpCheck(module: HttpModule, target: string): CheckRequest {
  const { method, headers, followRedirects, http2, family, insecureSsl, bodySizeLimit, bodyRules } = module;
  const url = /^https?:\/\//.test(target) ? target : `http://${target}`;
  const options = {
    ...{ method, headers, family, screenshot: false },
    followRedirects: followRedirects ? MAX_REDIRECTS : 0,
    httpVersion: http2 ? 'auto' : '1.1',
    maxBodyBytes: bodySizeLimit === 0 ? (bodyRules.length === 0 ? DEFAULT_BODY_BYTES : MAX_BODY_BYTES) : bodySizeLimit,
  };
  const request = check('http', url, options, { insecureSSL: insecureSsl });
  return bodyRules.length === 0 ? request : { ...request, rules: { body: bodyRules.map(({ regexp }) => regexp) } };
}

function dnsCheck({ transport, queryName, queryType, recursionDesired }: DnsModule, resolver: string): CheckRequest {
  const options = { transport, recursionDesired, resolver };
  return { ...check('dns', queryName, options, { recordType: queryType }), rules: TIMED };
}

/** As Go's `net.SplitHostPort`, with a port in digits. */
function splitHostPort(target: string): { readonly host: string; readonly port: number } | undefined {
  const [, ipv6, other, digits] = /^(?:\[([^[\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(target) ?? [];
  const port = Number(digits);
  const host = ipv6 ?? other;
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}
