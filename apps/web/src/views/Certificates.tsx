import type { JSX } from 'preact';

import { codeWords } from '../check/columns.ts';
import { ProbeChips } from '../check/CheckVerdict.tsx';
import { day, plural } from '../format.ts';
import { Facts } from '../parts/facts.tsx';
import { Section } from '../parts/section.tsx';
import { ToneMark, type Tone } from '../parts/tone.tsx';
import { endsSoon } from './certificate-end.ts';
import { commonName } from './common-name.ts';
import { groupMembers } from './group.ts';
import { resultsOf, type FieldsOf, type ViewProps } from './types.ts';

type Tls = NonNullable<FieldsOf<'http'>['tls']>;
type Certificate = Tls['chain'][number];

/** Each distinct certificate with its trust and chain; of several, the probes that received each. */
export function Certificates({ rows, nameOf, onChoose }: ViewProps): JSX.Element | null {
  const withTls = resultsOf<'http'>({ rows }).filter(([, { tls }]) => tls !== undefined && tls.chain.length > 0);
  if (withTls.length === 0) return null;
  const groups = groupMembers(withTls, ([, { tls }]) => `${tls!.chain[0]!.fingerprint256} ${tls!.authorized}`);
  return (
    <Section
      title={groups.length === 1 ? 'Certificate' : `${groups.length} different certificates`}
      note={groups.length === 1 ? `The same for ${plural(withTls.length, 'probe')}` : undefined}
      class="certificates"
    >
      {groups.map((members) => {
        const { tls: first, finishedAt } = members[0]![1];
        const tls = first!;
        return (
          <div key={`${tls.chain[0]!.fingerprint256} ${tls.authorized}`} class="certificate">
            <Validity tls={tls} finishedAt={finishedAt} />
            <ol class="chain">
              {tls.chain.map((certificate, index) => (
                <ChainLink
                  key={certificate.fingerprint256}
                  certificate={certificate}
                  index={index}
                  last={tls.chain.length - 1}
                />
              ))}
              <Rest count={(tls.chainLength ?? 0) - tls.chain.length} />
            </ol>
            {groups.length === 1 ? null : (
              <ProbeChips probes={members.map(([probe]) => probe)} nameOf={nameOf} onChoose={onChoose} />
            )}
          </div>
        );
      })}
    </Section>
  );
}

function Validity({ tls, finishedAt }: { readonly tls: Tls; readonly finishedAt: unknown }): JSX.Element {
  const leaf = tls.chain[0]!;
  const left = tls.daysLeft;
  const tone: Tone =
    !tls.authorized || (left ?? 0) < 0 ? 'bad' : endsSoon(leaf, left ?? 0, finishedAt) ? 'warn' : 'good';
  return (
    <div class="validity">
      <p class={`days ${tone}`}>
        {/* `daysLeft` is −1 during the first two days after the end. */}
        <strong>{left === null ? '–' : left === -1 ? '< 2' : Math.abs(left)}</strong> {left === 1 ? 'day' : 'days'}{' '}
        {left !== null && left < 0 ? 'past its end' : 'left'}
      </p>
      <LifeBar from={leaf.validFrom} until={leaf.validUntil} left={left} tone={tone} />
      <p class="trust">
        <ToneMark tone={tls.authorized ? 'good' : 'bad'} />
        {tls.authorized ? 'Trusted, and valid for this host' : codeWords(tls.authorizationError ?? 'not trusted')}
      </p>
      <Faults tls={tls} />
      <Facts
        facts={[
          ['Valid', `${day(leaf.validFrom)} – ${day(leaf.validUntil)}`],
          ['Protocol', `${tls.protocol}${tls.alpn === null ? '' : `, ${tls.alpn}`}`],
          ['Cipher', tls.cipher],
          ['Key exchange', keyExchange(tls)],
          ['OCSP', ocsp(tls)],
          ['Client certificate', tls.clientCertificateRequested === true ? 'asked for' : null],
        ]}
      />
    </div>
  );
}

/** The faults of the result, then what only Chromium rejects. */
function Faults({ tls }: { readonly tls: Tls }): JSX.Element | null {
  const refusal = tls.chromiumRefusal === undefined ? [] : [{ certificate: null, reason: tls.chromiumRefusal }];
  const all = [...(tls.faults ?? []), ...(tls.chromiumFaults ?? []), ...refusal];
  if (all.length === 0) return null;
  return (
    <ul class="faults">
      {all.map(({ certificate, reason }) => (
        <li key={`${certificate} ${reason}`}>{reason}</li>
      ))}
    </ul>
  );
}

function keyExchange({ keyExchange: agreed }: Tls): string | null {
  return agreed === null || agreed === undefined ? null : `${agreed.group}, ${agreed.bits} bits`;
}

function ocsp({ ocsp: staple, mustStaple }: Tls): string | null {
  if (staple !== null && staple !== undefined) {
    return `${staple.status}${staple.signature === 'invalid' ? ', signature wrong' : ''}${staple.current ? '' : ', not current'}`;
  }
  return mustStaple === true ? 'demanded, none sent' : null;
}

/** Number of certificates of the chain that the result leaves out because of its limit; nothing if there are none. */
function Rest({ count }: { readonly count: number }): JSX.Element | null {
  return count <= 0 ? null : (
    <li>
      <p class="note">and {plural(count, 'certificate')} more</p>
    </li>
  );
}

/** Remaining part of a certificate's validity period. */
function LifeBar(props: {
  readonly from: string | null;
  readonly until: string | null;
  readonly left: number | null;
  readonly tone: Tone;
}): JSX.Element | null {
  const { from, until, left, tone } = props;
  if (from === null || until === null || left === null) return null;
  const life = (Date.parse(until) - Date.parse(from)) / 86_400_000;
  const rest = Math.max(0, Math.min(1, left / Math.max(1, life)));
  return (
    <svg class={`life ${tone}`} width="100%" height="6" aria-hidden="true">
      <rect class="all" width="100%" height="6" rx="3" />
      <rect class="rest" width={`${rest * 100}%`} height="6" rx="3" />
    </svg>
  );
}

function ChainLink(props: {
  readonly certificate: Certificate;
  readonly index: number;
  readonly last: number;
}): JSX.Element {
  const { certificate, index, last } = props;
  const isRoot = index === last && certificate.subject === certificate.issuer;
  const names = certificate.subjectAltNames;
  const rest = certificate.subjectAltNameCount - names.slice(0, 6).length;
  return (
    <li>
      <p class="kind">{index === 0 ? 'Server' : isRoot ? 'Root' : 'Intermediate'}</p>
      <p class="subject">{commonName(certificate.subject)}</p>
      <p class="note">
        {certificate.keyType === null ? '' : `${certificate.keyType.toUpperCase()} ${certificate.keyBits ?? ''} · `}
        {certificate.signatureAlgorithm ? `${certificate.signatureAlgorithm} · ` : ''}
        until {day(certificate.validUntil)}
        {isRoot ? '' : ` · issued by ${commonName(certificate.issuer)}`}
      </p>
      {index > 0 || names.length === 0 ? null : (
        <p class="names">
          {names
            .slice(0, 6)
            .map((name) => name.replace(/^DNS:/, ''))
            .join('  ')}
          {rest > 0 ? ` and ${rest} more` : ''}
        </p>
      )}
    </li>
  );
}
