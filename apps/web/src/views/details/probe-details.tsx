import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { stallText } from '@vantage/diagnostics/reply-texts';

import type { Result } from '../../check/use-check.ts';
import { byteCount, duration } from '../../format.ts';
import { Facts } from '../../parts/facts.tsx';
import type { AllPaths as AllPathsCode } from '../AllPaths.tsx';
import { Records } from '../DnsView.tsx';
import { HopTable, StopNote } from '../HopTable.tsx';
import { HttpDetails } from './HttpDetails.tsx';
import { AddressFacts } from '../InfoView.tsx';
import { otherMeasurement } from '../../check/measurements.ts';
import { Attempts } from '../PortView.tsx';
import type { FieldsOf } from '../types.ts';
import { UdpDetails } from './UdpDetails.tsx';

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

function DetailsOfType({ type, result }: { readonly type: string; readonly result: Result }): JSX.Element {
  const text = stallText(result as FieldsOf<'traceroute'>);
  return (
    <>
      <FieldsOfType type={type} result={result} />
      {text === undefined ? null : <p class="note">{`${text.charAt(0).toUpperCase()}${text.slice(1)}.`}</p>}
    </>
  );
}

function FieldsOfType(props: { readonly type: string; readonly result: Result }): JSX.Element | null {
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
      {(result.state ?? null) === null ? null : (
        <Facts
          facts={[[`Port ${result.port ?? ''}`.trim(), result.state === 'closed' ? 'closed (RST)' : result.state]]}
        />
      )}
      <HopTable hops={result.hops ?? []} dscp={result.dscp} />
      <StopNote {...result} />
      {result.multipath === undefined ? null : <AllPaths multipath={result.multipath} />}
    </>
  );
}

type AllPathsView = typeof AllPathsCode;

/** The code of this view is loaded when it is needed, because few checks search all paths. */
function AllPaths(props: Parameters<AllPathsView>[0]): JSX.Element | null {
  const [View, setView] = useState<AllPathsView>();
  useEffect(() => {
    void import('../AllPaths.tsx').then(
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
