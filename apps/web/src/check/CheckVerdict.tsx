import type { Summary } from '@vantage/contract';
import type { JSX } from 'preact';

import { plural } from '../format.ts';
import { Sentence } from '../parts/prose.tsx';
import { ToneMark, type Tone } from '../parts/tone.tsx';
import { agreementOf, emptyLocationsText } from '../words.ts';
import { roundProgressOf } from './round-progress.ts';
import type { CheckData } from './use-check.ts';

const verdictTones: Readonly<Record<string, Tone>> = {
  up: 'good',
  degraded: 'warn',
  partial: 'warn',
  down: 'bad',
  unknown: 'mute',
};

const severityTones: Readonly<Record<string, Tone>> = { critical: 'bad', warning: 'warn', info: 'mute' };

/** Findings shown without expanding the list. */
const FIRST_FINDINGS = 5;

interface VerdictProps {
  readonly check: CheckData;
  readonly summary: Summary | undefined;
  /** True if the check is not completed and the page gets no more of it. */
  readonly isStopped: boolean;
  /** Selects a probe on the page. */
  readonly onChoose: (probe: string) => void;
  readonly nameOf: (probe: string) => string;
}

/** The verdict and headline of a check, with the findings. */
export function CheckVerdict({ check, summary, isStopped, onChoose, nameOf }: VerdictProps): JSX.Element {
  const total = Object.keys(check.results).length;
  const finished = finishedOf(check);
  const rounds = roundProgressOf(check);
  const progress = rounds === undefined ? undefined : `Round ${rounds.round}`;
  const isSettled = check.status === 'completed' && summary?.status === 'completed';
  const emptyText = emptyLocationsText(check);
  const agreement = isSettled ? agreementOf(summary) : undefined;
  return (
    <div class="verdict">
      <p class="verdict-line">
        {isSettled ? (
          <VerdictWord summary={summary} />
        ) : (
          <span class="verdict-word wait">
            {isStopped ? <ToneMark tone="mute" /> : <span class="spinner" aria-hidden="true" />}
            {check.status === 'completed' ? 'Comparing' : (progress ?? `${finished} of ${total} finished`)}
          </span>
        )}
        {agreement === undefined ? null : <span class="agree">{agreement}</span>}
      </p>
      <p class="headline">
        <Sentence text={isStopped ? stoppedText(check) : headlineOf(check, summary)} />
      </p>
      {emptyText === undefined ? null : <p class="note">{emptyText}: measured from the other locations.</p>}
      {summary === undefined || summary.findings.length === 0 ? null : (
        <Findings summary={summary} onChoose={onChoose} nameOf={nameOf} />
      )}
    </div>
  );
}

/** Number of probes with a final result. */
export function finishedOf(check: CheckData): number {
  return Object.values(check.results).filter(({ result }) => result !== 'pending').length;
}

function stoppedText(check: CheckData): string {
  return `${finishedOf(check)} of ${plural(Object.keys(check.results).length, 'probe')} had finished when this page lost the check.`;
}

/** Headline of the summary; a progress text before it is available, and while rounds go on. */
export function headlineOf(check: CheckData, summary: Summary | undefined): string {
  const total = Object.keys(check.results).length;
  const rounds = roundProgressOf(check);
  if (rounds !== undefined) return rounds.text;
  const isStale = check.status === 'completed' && summary?.status !== 'completed';
  if (summary === undefined || isStale || summary.counts.pending === total) {
    return check.status === 'completed'
      ? `${total === 1 ? 'The probe is' : `All ${total} probes are`} done.`
      : `Measuring ${check.host} from ${plural(total, 'probe')}.`;
  }
  return summary.headline;
}

function VerdictWord({ summary }: { readonly summary: Summary }): JSX.Element {
  const tone = verdictTones[summary.verdict] ?? 'mute';
  return (
    <span class={`verdict-word ${tone}`}>
      <ToneMark tone={tone} />
      {summary.verdict.charAt(0).toUpperCase() + summary.verdict.slice(1)}
    </span>
  );
}

function Findings(props: {
  readonly summary: Summary;
  readonly onChoose: (probe: string) => void;
  readonly nameOf: (probe: string) => string;
}): JSX.Element {
  const { findings } = props.summary;
  const row = (finding: (typeof findings)[number], index: number): JSX.Element => (
    <li key={`${finding.code} ${index}`}>
      <ToneMark tone={severityTones[finding.severity] ?? 'mute'} />
      <div>
        <span class="unseen">{finding.severity}: </span>
        <Sentence text={finding.text} /> <ProbeChips probes={finding.probes} {...props} />
      </div>
    </li>
  );
  const rest = findings.slice(FIRST_FINDINGS);
  return (
    <>
      <ul class="findings">{findings.slice(0, FIRST_FINDINGS).map(row)}</ul>
      {rest.length === 0 ? null : (
        <details class="more">
          <summary>{plural(rest.length, 'more finding')}</summary>
          <ul class="findings">{rest.map((finding, index) => row(finding, index + FIRST_FINDINGS))}</ul>
        </details>
      )}
    </>
  );
}

/** Number of probes listed by name; if there is only one more, it is listed too. */
const FEW = 4;

export function ProbeChips(props: {
  readonly probes: readonly string[];
  readonly nameOf: (probe: string) => string;
  readonly onChoose: (probe: string) => void;
}): JSX.Element {
  const { probes, nameOf, onChoose } = props;
  const shown = probes.length <= FEW + 1 ? probes : probes.slice(0, FEW);
  return (
    <span class="chips">
      {shown.map((probe) => (
        <button key={probe} type="button" class="chip" title={nameOf(probe)} onClick={() => onChoose(probe)}>
          {probe}
        </button>
      ))}
      {shown.length < probes.length ? <span class="chip-rest">and {probes.length - shown.length} more</span> : null}
    </span>
  );
}
