import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { Result } from '../check/use-check.ts';
import { byteCount, duration } from '../format.ts';
import { Facts } from '../parts/facts.tsx';
import type { AllPaths as AllPathsCode } from './AllPaths.tsx';
import { Records } from './DnsView.tsx';
import { HopTable, StopNote } from './HopTable.tsx';
import { AddressFacts } from './InfoView.tsx';
import { otherMeasurement } from '../check/measurements.ts';
import { phaseNames, phaseTitles } from './phases.ts';
import { Attempts } from './PortView.tsx';
import type { FieldsOf } from './types.ts';

/** Expanded row of a probe; of a check over both families, both measurements. */
export function ProbeDetails({ type, result }: { readonly type: string; readonly result: Result }): JSX.Element {
  const other = otherMeasurement(result);
  if (other === undefined) return <DetailsOfType type={type} result={result} />;
  const { result: outcome, resolvedIp, rt, error } = other.result;
  return (
    <>
      <DetailsOfType type={type} result={result} />
      <div>
        <h3>Over IPv{other.family}</h3>
        <Facts
          facts={[
            ['Result', outcome],
            ['Address', resolvedIp],
            ['Time', typeof rt === 'number' ? duration(rt) : null],
            ['Error', error?.message],
          ]}
        />
        <DetailsOfType type={type} result={other.result} />
      </div>
    </>
  );
}

function DetailsOfType(props: { readonly type: string; readonly result: Result }): JSX.Element | null {
  const { type, result } = props;
  switch (type) {
    case 'ping':
      return <PingDetails result={result} />;
    case 'http':
      return <HttpDetails result={result} />;
    case 'dns':
      return <DnsDetails result={result} />;
    case 'tcp':
      return <Attempts result={result} />;
    case 'udp':
      return <UdpDetails result={result} />;
    case 'traceroute':
      return <TraceDetails result={result} />;
    case 'info':
      return <AddressFacts result={result} />;
    default:
      return null;
  }
}

function TraceDetails({ result }: { readonly result: FieldsOf<'traceroute'> }): JSX.Element {
  return (
    <>
      <HopTable hops={result.hops ?? []} dscp={result.dscp} />
      <StopNote {...result} />
      {result.multipath === undefined ? null : <AllPaths multipath={result.multipath} />}
    </>
  );
}

type AllPathsView = typeof AllPathsCode;

/** Few checks search all paths: its code is loaded when it is needed. */
function AllPaths(props: Parameters<AllPathsView>[0]): JSX.Element | null {
  const [View, setView] = useState<AllPathsView>();
  useEffect(() => {
    void import('./AllPaths.tsx').then(
      (loaded) => setView(() => loaded.AllPaths),
      () => undefined,
    );
  }, []);
  return View === undefined ? null : <View {...props} />;
}

function PingDetails({ result }: { readonly result: FieldsOf<'ping'> }): JSX.Element {
  const odd = Object.entries(result.anomalies ?? {}).filter(([, count]) => count > 0);
  return (
    <>
      <Facts
        facts={[
          ['Packets', `${result.pingCompleted ?? 0} of ${result.pingCount ?? 0} answered`],
          [
            'Fastest and slowest',
            typeof result.rttMin === 'number' ? `${duration(result.rttMin)} to ${duration(result.rttMax)}` : null,
          ],
          ['Jitter', typeof result.jitter === 'number' ? duration(result.jitter) : null],
          ['Standard deviation', result.rttStdDev === undefined ? null : duration(result.rttStdDev)],
          ['Odd replies', odd.map(([name, count]) => `${count} ${name}`).join(', ')],
          ['Timed by', result.clock],
        ]}
      />
      {(result.packets ?? []).length === 0 ? null : (
        <ol class="packets">
          {result.packets!.map(({ seq, rtt, ttl, from, duplicate }, index) => (
            <li key={index} class={rtt === null ? 'lost' : ''}>
              <span>{seq}</span>
              <strong>{rtt === null ? 'lost' : duration(rtt)}</strong>
              <span>
                {ttl === null ? '' : `TTL ${ttl}`}
                {duplicate ? ' duplicate' : ''}
              </span>
              <span>{from !== result.resolvedIp ? from : ''}</span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function HttpDetails({ result }: { readonly result: FieldsOf<'http'> }): JSX.Element {
  const {
    timings,
    http2Error,
    addresses = [],
    deadAddresses = [],
    redirects = [],
    headers = [],
    headerCount = headers.length,
    deviations = [],
  } = result;
  return (
    <>
      <Facts
        facts={[
          ['URL', result.url],
          [
            'Status',
            [result.statusCode, result.statusText].filter((part) => part !== null && part !== undefined).join(' '),
          ],
          ['Points to', result.location],
          ['Addresses', addresses.length < 2 ? null : addresses.join(', ')],
          ['No connection with', deadAddresses.map(({ address, error }) => `${address} (${error})`).join(', ')],
          [
            'HTTP/2 ended by',
            http2Error === undefined
              ? null
              : [http2Error.frame, http2Error.name, http2Error.debug ?? ''].join(' ').trim(),
          ],
          [
            'Body',
            result.bodyBytes === undefined
              ? null
              : `${byteCount(result.bodyBytes)}${result.truncated === true ? ', cut off' : ''}`,
          ],
          ['All requests', redirects.length === 0 || result.elapsed === undefined ? null : duration(result.elapsed)],
          ...phaseNames.map(
            (name) => [phaseTitles[name], timings?.[name] === undefined ? null : duration(timings[name])] as const,
          ),
          [
            'Certificate',
            result.sslSubject === undefined ? null : `${result.sslSubject ?? ''} by ${result.sslIssuer ?? ''}`,
          ],
          ['Also offered', (result.altSvc ?? []).map(({ protocol, port }) => `${protocol} on ${port}`).join(', ')],
        ]}
      />
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

function DnsDetails({ result }: { readonly result: FieldsOf<'dns'> }): JSX.Element {
  const sections = [
    ['Answer', result.answers],
    ['Authority', result.authority],
    ['Additional', result.additional],
  ] as const;
  return (
    <>
      <Facts
        facts={[
          ['Question', result.queryName === undefined ? null : `${result.queryName} ${result.recordType ?? ''}`],
          ['Alias of', result.canonicalName],
          ['Flags', (result.flags ?? []).join(' ')],
          ['Malformed', result.formatError],
          ['Resolver', result.resolver],
          ['Over', result.transport],
          ['Size', result.size === undefined ? null : byteCount(result.size)],
          ['DNSSEC', result.dnssec?.verdict.replaceAll('_', ' ')],
          ['Server', result.edns?.nsid?.text],
          ['Says', (result.edns?.extendedErrors ?? []).map(({ name, text }) => `${name} ${text}`.trim()).join('; ')],
        ]}
      />
      {sections.map(([title, records]) =>
        records === undefined || records.length === 0 ? null : (
          <div key={title}>
            <h3>{title}</h3>
            <Records records={records} />
          </div>
        ),
      )}
      {(result.trace ?? []).length === 0 ? null : (
        <ol class="redirects">
          {result.trace!.map(({ zone, server, address, rt, rcode, referral, error }, index) => (
            <li key={index}>
              <strong>{zone}</strong> {server} {address === null ? '' : `(${address})`}{' '}
              {error === null ? `${rcode ?? ''}${referral === null ? '' : `, refers to ${referral}`}` : error.message}{' '}
              <span class="note">{duration(rt)}</span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function UdpDetails({ result }: { readonly result: FieldsOf<'udp'> }): JSX.Element {
  return (
    <>
      <Attempts result={result} />
      <Facts
        facts={[
          [
            'Sent',
            result.payload === undefined
              ? null
              : result.payload === ''
                ? 'an empty datagram'
                : hexLines(result.payload),
          ],
          [
            'Answer',
            (result.responseBytes ?? 0) === 0
              ? null
              : `${byteCount(result.responseBytes!)}: ${hexOf(result.response ?? '')}`,
          ],
          [
            'ICMP',
            result.icmp === null || result.icmp === undefined
              ? null
              : `type ${result.icmp.type}, code ${result.icmp.code}${result.icmp.from === null ? '' : `, from ${result.icmp.from}`}`,
          ],
        ]}
      />
    </>
  );
}

function hexLines(hex: string): string {
  return (hex.match(/../g) ?? []).join(' ');
}

function hexOf(base64: string): string {
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join(' ');
}
