import type { Summary } from '@vantage/contract';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { CheckData } from '../check/use-check.ts';
import { duration } from '../format.ts';
import { useService } from '../parts/router.tsx';
import { Section } from '../parts/section.tsx';
import { FEW_ROWS } from '../filter/groups.ts';
import { useFirst } from '../parts/use-first.tsx';
import { useGrowing } from '../parts/use-growing.ts';
import { ScaleAxis } from './Axis.tsx';
import { Certificates } from './Certificates.tsx';
import { PlainHttp, plainUrlOf } from './PlainHttp.tsx';
import { legendOf, phasesOf, phaseTitles, type Timings } from '../phases.ts';
import { scaleTo, type Scale } from './scale.ts';
import { screenshotNotes } from './screenshot-notes.ts';
import { resultsOf, type FieldsOf, type ViewProps } from './types.ts';

/**
 * Timings side by side, then certificates, then the screenshot; first a button for plain HTTP if a probe names its URL.
 */
export function HttpView(props: ViewProps): JSX.Element {
  // With many rows, the page draws one of the three parts per frame.
  const parts = useGrowing(3, props.rows.length > FEW_ROWS ? 1 : 3);
  const plainUrl = plainUrlOf(props.check);
  return (
    <>
      {plainUrl === undefined ? null : <PlainHttp check={props.check} url={plainUrl} />}
      <Durations {...props} />
      {parts < 2 ? null : <Certificates {...props} />}
      {parts < 3 ? null : <Picture check={props.check} summary={props.summary} />}
    </>
  );
}

function Durations(props: ViewProps): JSX.Element | null {
  const { isAll, onChoose } = props;
  const rows = resultsOf<'http'>(props);
  const [shown, rest] = useFirst(rows, isAll);
  const totals = rows.flatMap(([, { timings }]) => timings?.total ?? []);
  const scale = scaleTo(totals, 5);
  // No probe has a time, and none is still measuring, for example because the name does not resolve.
  if (totals.length === 0 && rows.every(([, { result }]) => result !== 'pending')) return null;
  return (
    <Section
      title="Where the time went"
      note={<Legend of={rows.map(([, { timings }]) => timings)} />}
      class="http-view"
    >
      {rows.some(([, { redirects = [] }]) => redirects.length > 0) ? (
        <p class="note">The last request of each probe, without its redirects.</p>
      ) : null}
      <div class="strips">
        {shown.map(([probe, result]) => (
          <div key={probe} class="strip-row one">
            <button type="button" class="row-name" onClick={() => onChoose(probe)}>
              {probe}
            </button>
            <Waterfall timings={result.timings} scale={scale} />
            <span class="row-value">
              {duration(result.result === 'pending' ? undefined : result.timings?.total)}
              <Status result={result} />
            </span>
          </div>
        ))}
        <div class="strip-row one axis-row">
          <span />
          {totals.length === 0 ? null : <ScaleAxis scale={scale} />}
        </div>
      </div>
      {rest}
    </Section>
  );
}

export function Legend(props: { readonly of: readonly (Timings | undefined)[] }): JSX.Element {
  return (
    <span class="legend" aria-hidden="true">
      {legendOf(props.of).map((name) => (
        <span key={name}>
          <i class={`key-phase phase-${name}`} /> {phaseTitles[name]}
        </span>
      ))}
    </span>
  );
}

function Status({ result }: { readonly result: FieldsOf<'http'> }): JSX.Element | null {
  const { statusCode } = result;
  if (statusCode === undefined) return null;
  return <em class={statusCode >= 400 ? 'bad' : 'plain'}>{statusCode}</em>;
}

export function Waterfall(props: { readonly timings: Timings | undefined; readonly scale: Scale }): JSX.Element {
  const { timings, scale } = props;
  const phases = timings === undefined ? [] : phasesOf(timings);
  return (
    <svg class="waterfall" aria-hidden="true" width="100%" height="22">
      {scale.ticks.slice(1, -1).map((tick) => (
        <line
          key={tick}
          class="grid-line"
          x1={`${scale.percent(tick)}%`}
          x2={`${scale.percent(tick)}%`}
          y1="0"
          y2="22"
        />
      ))}
      {phases.map(({ name, start, length }) => (
        <rect
          key={name}
          class={`phase-${name}`}
          x={`${scale.percent(start)}%`}
          width={`${Math.max(0.15, scale.percent(length))}%`}
          y="4"
          height="14"
          rx="1.5"
        >
          <title>{`${phaseTitles[name]}: ${duration(length)}`}</title>
        </rect>
      ))}
    </svg>
  );
}

function Picture(props: { readonly check: CheckData; readonly summary: Summary | undefined }): JSX.Element | null {
  const { basePath } = useService();
  const [isLost, lose] = useState(false);
  const results = Object.entries(props.check.results);
  const [probe, result] = results.find(([, { screenshotUrl }]) => typeof screenshotUrl === 'string') ?? [];
  if (probe === undefined) return null;
  const url = result!['screenshotUrl'] as string;
  const cuts = props.summary?.findings.filter(({ code }) => code === 'screenshot_incomplete') ?? [];
  const notes = [...screenshotNotes(props.check, result!), ...cuts.map(({ text }) => text)];
  // Rejects anything but a path of this service.
  if (!/^\/[^/\\]/.test(url)) return null;
  // The path may already have the prefix of the base URL.
  const source = url.startsWith(`${basePath}/`) ? url : `${basePath}${url}`;
  return (
    <Section title="Screenshot" note={`Taken by ${probe}`} class="picture">
      {isLost ? (
        <p class="note">The screenshot cannot be shown: it is no longer kept, or too many were asked for.</p>
      ) : (
        <a href={source}>
          <img
            src={source}
            width="1280"
            height="800"
            loading="lazy"
            alt={`What ${props.check.host} looks like in a browser`}
            onError={() => lose(true)}
          />
        </a>
      )}
      {notes.map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
    </Section>
  );
}
