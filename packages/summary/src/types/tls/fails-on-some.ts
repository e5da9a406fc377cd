import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import { countOf, naming } from '../../words.ts';
import { isIssuerUnproved, redirectedHostOf, sawTheSame } from './certificate-difference.ts';
import { isRefused } from './fault-codes.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** Findings: TLS fails for some probes and works for others with one host, to which redirects may have led. */
export function findFailsOnSome(
  faulty: readonly HttpResult[],
  accepted: readonly HttpResult[],
): readonly FindingDraft[] {
  return groupBy(faulty, redirectedHostOf).flatMap(([host, own]) =>
    partly(
      own,
      accepted.filter((probeResult) => redirectedHostOf(probeResult) === host),
    ),
  );
}

function partly(faulty: readonly HttpResult[], accepted: readonly HttpResult[]): readonly FindingDraft[] {
  if (faulty.length === 0 || accepted.length === 0) return [];
  const cause = causeOf(faulty, accepted);
  const isSent = faulty.every((one) => !isRefused(one) && one.result.tls?.authorized === false);
  const text = isSent
    ? `The certificate would be refused for ${naming(faulty)}, and is accepted for ${naming(accepted)}${cause}`
    : `TLS fails for ${naming(faulty)} and works for ${naming(accepted)}${cause}`;
  const fails = isSent ? 'the certificate would be refused' : 'TLS fails';
  return [
    buildFinding(
      'certificate_fails_on_some',
      'warning',
      faulty,
      text,
      `${fails} for ${countOf(faulty.length, 'probe')}`,
    ),
  ];
}

function causeOf(faulty: readonly HttpResult[], accepted: readonly HttpResult[]): string {
  if (!faulty.every((one) => accepted.some((other) => sawTheSame(one, other)))) {
    return ': perhaps a server that was left out of a change, or something on the way that answers in the target’s place.';
  }
  const same = ', with the same certificates';
  if (faulty.every(isIssuerUnproved))
    return `${same}: the probes trust different authorities, by their releases or their CA_FILE.`;
  const isRevoked = faulty.every(({ result }) => result.tls?.authorizationError === 'tls_revoked');
  return isRevoked ? `${same}: an OCSP response that not every probe was sent revokes one.` : `${same}.`;
}
