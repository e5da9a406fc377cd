import type { Description } from '../../shared/description.ts';
import { count, listed, ms, told } from '../../shared/result-text.ts';
import type { http } from './contract.ts';

export const description: Description<typeof http> = {
  line: ({ statusCode, statusText, httpVersion, timings, tls, bodyBytes, truncated, redirects = [], elapsed }) => [
    told(statusCode, (code) => `${code} ${statusText ?? ''}`.trimEnd()),
    told(httpVersion, (version) => `HTTP/${version}`),
    told(timings?.total, ms),
    redirects.length === 0
      ? undefined
      : told(elapsed, (all) => `${ms(all)} with ${count(redirects.length, 'redirect')}`),
    truncated === true ? told(bodyBytes, (bytes) => `body cut off after ${count(bytes, 'byte')}`) : undefined,
    told(tls?.daysLeft, certificateText),
  ],
  details: ({
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
    ...listed(tls?.chromiumRefusal, (reason) => `refused by Chromium: ${reason}`),
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

/** −1 stands for the first day after the end, too. */
function certificateText(days: number): string {
  if (days >= 0) return `certificate for ${count(days, 'day')}`;
  return `certificate expired ${days === -1 ? 'less than two days' : count(-days, 'day')} ago`;
}
