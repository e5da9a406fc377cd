import type { CommonResult, PublicFieldsOf } from '@vantage/contract';
import type { checkTypes, CheckTypeName, IcmpNotice } from '@vantage/diagnostics/contract';

/** Fields of a final or pending result, without the outcome, which the caller prints. */
type ResultOf<Name extends CheckTypeName> = Partial<Omit<CommonResult, 'result'>> &
  PublicFieldsOf<(typeof checkTypes)[Name]>;

type Describe = {
  readonly [Name in CheckTypeName]: (result: Partial<ResultOf<Name>>) => readonly (string | undefined)[];
};

/** Describes a probe's result in one line; unknown fields are omitted. */
export function describeResult<Name extends CheckTypeName>(type: Name, result: Partial<ResultOf<Name>>): string {
  const { error, resolvedIp } = result as Partial<CommonResult>;
  const reason = told(error, ({ message, code }) => `${message} (${code})`);
  return [told(resolvedIp), ...describe[type](result), reason].filter((part) => part !== undefined).join(', ');
}

const describe: Describe = {
  ping: ({ rttMin, rttAvg, rttMax, jitter, pingCount, pingCompleted, packets }) => [
    // While the check runs there are rows and no totals.
    pingCount === undefined ? rowsSoFar(packets) : `${pingCompleted ?? 0} of ${pingCount} answered`,
    told(rttAvg, (average) => `${ms(rttMin)} / ${ms(average)} / ${ms(rttMax)}`),
    told(jitter, (value) => `jitter ${ms(value)}`),
  ],
  traceroute: ({ hops, reached, rt, pathMtu, loop, stopReason, mtuBlackHole, protocol, echo }) => [
    told(hops, ({ length }) => count(length, 'hop')),
    reached === true ? told(rt, ms) : undefined,
    reached === false && (echo?.received ?? 0) > 0
      ? `the target answers ${protocol === 'icmp' ? 'other ' : ''}echo requests`
      : undefined,
    told(pathMtu, (mtu) => `MTU ${mtu}`),
    told(mtuBlackHole, (bytes) => `packets from ${bytes} bytes on vanish`),
    told(loop, ({ start }) => `goes in a circle from hop ${start}`),
    told(stopWords.get(stopReason ?? 'completed')),
  ],
  tcp: ({ state, rt, attempts = [] }) => [
    told(state),
    told(rt, ms),
    attempts.length < 2 ? undefined : count(attempts.length, 'attempt'),
  ],
  udp: ({ state, rt, responseBytes }) => [
    told(state),
    told(rt, ms),
    told(responseBytes, (bytes) => count(bytes, 'byte')),
  ],
  dns: ({ rcode, answerKind, canonicalName, referral, answers, rt, resolver }) => [
    told(rcode),
    plainKinds.has(answerKind) ? undefined : told(answerKind),
    told(referral, (zone) => `referred to ${zone}`),
    told(canonicalName, (name) => `alias of ${name}`),
    told(answers, ({ length }) => count(length, 'answer')),
    told(rt, ms),
    told(resolver, (name) => (rcode === undefined ? `resolver ${name}` : `from ${name}`)),
  ],
  http: ({ statusCode, statusText, httpVersion, timings, tls, bodyBytes, truncated }) => [
    told(statusCode, (code) => `${code} ${statusText ?? ''}`.trimEnd()),
    told(httpVersion, (version) => `HTTP/${version}`),
    told(timings?.total, ms),
    truncated === true ? told(bodyBytes, (bytes) => `body cut off after ${count(bytes, 'byte')}`) : undefined,
    told(tls?.daysLeft, (days) =>
      days < 0 ? `certificate expired ${count(-days, 'day')} ago` : `certificate for ${count(days, 'day')}`,
    ),
  ],
  info: ({ hostname, asn, asName, city, country }) => [
    told(hostname),
    told(asn, (number) => `${number} ${asName ?? ''}`.trimEnd()),
    [told(city), told(country)].filter((part) => part !== undefined).join(', ') || undefined,
  ],
};

/** Answer kinds that the rcode or another part of the line already shows. */
const plainKinds: ReadonlySet<string | undefined> = new Set(['answer', 'referral', 'error', 'nxdomain']);

/** Stop reasons that neither the error nor the loop shows. */
const stopWords: ReadonlyMap<string, string> = new Map([
  ['hop_limit', 'stopped at the hop limit'],
  ['gap_limit', 'no later hop answered'],
  ['deadline', 'ended before it was complete'],
]);

type Details = { readonly [Name in CheckTypeName]?: (result: Partial<ResultOf<Name>>) => readonly string[] };

/** Further lines, for fields that do not fit on the first. */
export function resultDetails<Name extends CheckTypeName>(
  type: Name,
  result: Partial<ResultOf<Name>>,
): readonly string[] {
  return details[type]?.(result) ?? [];
}

const details: Details = {
  ping: ({ packets = [] }) =>
    packets.flatMap(({ seq, icmp }) => listed(icmp, (error) => `packet ${seq}: ${icmpText(error)}`)),
  tcp: portDetails,
  udp: portDetails,
  traceroute: ({ hops = [] }) =>
    hops.map(({ hop, ip, hostname, asn, asName, latency, private: isPrivate, icmp }) => {
      const who = ip ?? (isPrivate ? '(private)' : '*');
      const more = [
        told(hostname),
        told(icmp, ({ mark, from }) =>
          from === undefined || from === ip ? mark : `${mark} by ${from ?? '(private)'}`,
        ),
        told(asn, (number) => `${number} ${asName ?? ''}`.trimEnd()),
      ].filter((part) => part !== undefined);
      return [`${String(hop).padStart(2)}  ${told(latency, ms) ?? ''}`.padEnd(14), who, ...more].join('  ');
    }),
  dns: ({ answers = [], authority = [], answerKind, formatError, dnssec }) => [
    ...answers.map(recordLine),
    ...(answerKind === 'referral' ? authority : []).map(recordLine),
    ...listed(formatError, (breach) => `malformed: ${breach}`),
    ...listed(dnssec?.verdict, (verdict) => `DNSSEC: ${verdict}`),
  ],
  http: ({
    timings,
    location,
    deviations = [],
    deadAddresses = [],
    http2Error,
    sslSubject,
    sslIssuer,
    sslValidUntil,
    tls,
  }) => [
    ...listed(timings, (phases) =>
      Object.entries(phases)
        .flatMap(([phase, value]) => (typeof value === 'number' ? [`${phase} ${ms(value)}`] : []))
        .join('  '),
    ),
    ...listed(location, (url) => `location: ${url}`),
    ...listed(sslSubject, (name) => `certificate: ${name}, by ${sslIssuer ?? '?'}, until ${sslValidUntil ?? '?'}`),
    ...listed(tls?.authorizationError, (reason) => `not trusted: ${reason}`),
    ...(tls?.faults ?? []).map(({ code, reason }) => `fault: ${reason} (${code})`),
    ...(tls?.chromiumFaults ?? []).map(({ reason }) => `refused by Chromium: ${reason}`),
    ...listed(tls?.keyExchange, ({ group, bits }) => `key exchange: ${group}, ${bits} bits`),
    ...(tls?.clientCertificateRequested === true ? ['the server asks for a certificate of the client'] : []),
    ...deadAddresses.map(({ address, error }) => `no connection with ${address}: ${error}`),
    ...listed(
      http2Error,
      ({ frame, name, debug }) => `HTTP/2 ended by ${frame} ${name}${debug === null ? '' : `: ${debug}`}`,
    ),
    ...deviations.map(({ text, clause }) => `not as HTTP has it: ${text} (${clause})`),
  ],
};

type DnsRecord = NonNullable<ResultOf<'dns'>['answers']>[number];

function recordLine({ name, ttl, type, data }: DnsRecord): string {
  return `${name}  ${ttl}  ${type}  ${data}`;
}

function portDetails({ icmp, icmpUnread }: Partial<ResultOf<'tcp'>> | Partial<ResultOf<'udp'>>): readonly string[] {
  return [...listed(icmp, icmpText), ...(icmpUnread === true ? ['this probe cannot read ICMP errors'] : [])];
}

function icmpText({ type, code, from, private: isPrivate }: IcmpNotice): string {
  const sender = from ?? (isPrivate === true ? 'a private address' : 'an unknown sender');
  return `ICMP type ${type} code ${code} from ${sender}`;
}

function told<T>(value: T | null | undefined, text: (value: T) => string = String): string | undefined {
  return value === null || value === undefined ? undefined : text(value);
}

function listed<T>(value: T | null | undefined, text: (value: T) => string): readonly string[] {
  const line = told(value, text);
  return line === undefined ? [] : [line];
}

function rowsSoFar(packets: readonly { readonly rtt: number | null }[] | undefined): string | undefined {
  const last = packets?.at(-1);
  if (packets === undefined || last === undefined) return undefined;
  return `${count(packets.length, 'packet')}, ${last.rtt === null ? 'lost' : ms(last.rtt)}`;
}

function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return '?';
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)} ms`;
}

function count(value: number, word: string): string {
  return `${value} ${word}${value === 1 ? '' : 's'}`;
}
