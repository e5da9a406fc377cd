import type { JSX } from 'preact';

import { byteCount, duration } from '../../format.ts';
import { Facts, type Fact } from '../../parts/facts.tsx';
import { phasesOf, phaseTitles } from '../../phases.ts';
import type { FieldsOf } from '../types.ts';

export function HttpDetails({ result }: { readonly result: FieldsOf<'http'> }): JSX.Element {
  const { redirects = [], headers = [], headerCount = headers.length, deviations = [] } = result;
  return (
    <>
      <Facts facts={factsOf(result)} />
      {redirects.length === 0 ? null : (
        <ol class="redirects">
          {redirects.map(({ url, statusCode, rt }, index) => (
            <li key={index}>
              <strong>{statusCode}</strong> {url} <span class="note">{duration(rt)}</span>
            </li>
          ))}
        </ol>
      )}
      {deviations.length === 0 ? null : (
        <div>
          <h3>Not as HTTP has it</h3>
          <ul class="redirects">
            {deviations.map(({ code, clause, text }) => (
              <li key={code}>
                {text} <span class="note">{clause}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {headers.length === 0 ? null : (
        <details class="raw">
          <summary>
            {headers.length} headers{headerCount > headers.length ? `, the first of ${headerCount}` : ''}
          </summary>
          <pre tabIndex={0}>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
        </details>
      )}
    </>
  );
}

function factsOf(result: FieldsOf<'http'>): readonly Fact[] {
  const { timings, http2Error, addresses = [], deadAddresses = [], redirects = [] } = result;
  return [
    ['URL', result.url],
    ['Status', [result.statusCode, result.statusText].filter((part) => part !== null && part !== undefined).join(' ')],
    ['Points to', result.location],
    ['Addresses', addresses.length < 2 ? null : addresses.join(', ')],
    ['No connection with', deadAddresses.map(({ address, error }) => `${address} (${error})`).join(', ')],
    [
      'HTTP/2 ended by',
      http2Error === undefined ? null : [http2Error.frame, http2Error.name, http2Error.debug ?? ''].join(' ').trim(),
    ],
    [
      'Body',
      result.bodyBytes === undefined
        ? null
        : `${byteCount(result.bodyBytes)}${result.truncated === true ? ', cut off' : ''}`,
    ],
    ['All requests', redirects.length === 0 || result.elapsed === undefined ? null : duration(result.elapsed)],
    ...(timings === undefined
      ? []
      : phasesOf(timings).map(({ name, length }) => [phaseTitles[name], duration(length)] as const)),
    ['Certificate', result.sslSubject === undefined ? null : `${result.sslSubject ?? ''} by ${result.sslIssuer ?? ''}`],
    ['Also offered', (result.altSvc ?? []).map(({ protocol, port }) => `${protocol} on ${port}`).join(', ')],
  ];
}
