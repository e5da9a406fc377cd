import {
  describeResult,
  type Line,
  lineText,
  piece,
  type Piece,
  requestText,
  resultDetails,
  type Style,
  table,
} from '@vantage/command-line';
import { ProblemError, type CheckEvent, type Client } from '@vantage/client';
import { escapeText, type Probes, type Summary } from '@vantage/contract';
import { isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';

import type { Screen } from './live-lines.ts';

export interface DisplayOptions {
  readonly client: Client;
  readonly screen: Screen;
  readonly colors: boolean;
  readonly signal: AbortSignal;
}

type Shown = Extract<CheckEvent, { readonly type: 'probe' }>['result'];

const styles: Readonly<Record<string, Style>> = {
  success: 'good',
  failure: 'bad',
  timeout: 'bad',
  error: 'warning',
  pending: 'dim',
};

/** A check as events carry it, with the screenshot's URL. */
export type DisplayedCheck = Extract<CheckEvent, { readonly type: 'completed' }>['check'];

/**
 * Prints results as they arrive, then the summary.
 *
 * @param type undefined if unknown: then it is read first, and the request is displayed, too
 * @returns the completed check
 * @throws ProblemError, an error of the network, or the signal's reason
 */
export async function displayCheck(
  checkId: string,
  type: CheckTypeName | undefined,
  { client, screen, colors, signal }: DisplayOptions,
): Promise<DisplayedCheck> {
  const probes = await client.probes({ signal }).catch(() => ({}));
  const first = type === undefined ? await client.results(checkId, { signal }) : undefined;
  const results = new Map<string, Shown>();
  const show = (): void => {
    const ofType = type ?? first?.type ?? '';
    const lines = linesOf([...results], probes, ofType, hasRounds);
    screen.show(lines.map((line) => lineText(line, colors)));
  };
  let check: DisplayedCheck | undefined = first?.status === 'completed' ? first : undefined;
  if (check === undefined) {
    for await (const event of client.watch(checkId, { signal })) {
      if (event.type === 'completed') {
        check = event.check;
        break;
      }
      results.set(event.probe, event.result);
      show();
    }
  }
  // If the stream has ended without `completed`, its last event, the results are read.
  check ??= await client.results(checkId, { signal });
  const summary = await client.summary(checkId, { signal }).catch(missing);
  // `vantage show` displays the request, too.
  const asked = type === undefined ? askedLines(check) : [];
  const lines = [...asked, ...finalLines(check, probes), ...summaryLines(summary)];
  screen.print(lines.map((line) => lineText(line, colors)));
  return check;
}

/** Leaves out a summary that the service refuses. */
function missing(error: unknown): undefined {
  if (error instanceof ProblemError) return undefined;
  throw error;
}

function rowOf(probe: string, probes: Probes, type: string, result: Shown): Piece[] {
  const style = styles[result.result] ?? 'plain';
  const known = Object.hasOwn(probes, probe) ? probes[probe] : undefined;
  const place = known === undefined ? '' : `${known.city ?? known.datacenter}, ${known.countryCode}`;
  const text = isCheckTypeName(type) ? describeResult(type, result) : '';
  return [piece(probe, 'bold'), piece(place, 'dim'), piece(result.result, style), piece(text)];
}

function finalLines({ type, results }: DisplayedCheck, probes: Probes): readonly Line[] {
  return linesOf(Object.entries(results), probes, type, () => true);
}

/** True for a result with rounds: its further lines are displayed before the check is completed, too. */
function hasRounds(result: Shown): boolean {
  return 'rounds' in result && result.rounds !== undefined;
}

function linesOf(
  entries: readonly (readonly [probe: string, result: Shown])[],
  probes: Probes,
  type: string,
  isDetailed: (result: Shown) => boolean,
): readonly Line[] {
  const lines = table(entries.map(([probe, result]) => rowOf(probe, probes, type, result)));
  return entries.flatMap(([, result], index) => {
    const details = isCheckTypeName(type) && isDetailed(result) ? resultDetails(type, result) : [];
    return [lines[index]!, ...details.map((detail) => [piece(`    ${detail}`)])];
  });
}

function askedLines(check: DisplayedCheck): readonly Line[] {
  const asked = requestText(check);
  const empty = (check.emptyLocations ?? []).map((text) => `"${escapeText(text, 80)}"`).join(' or ');
  const lines = [
    ...(asked === undefined ? [] : [[piece(`asked  ${asked}`, 'dim')]]),
    ...(empty === '' ? [] : [[piece(`No probe at ${empty}`, 'dim')]]),
  ];
  return lines.length === 0 ? [] : [...lines, []];
}

const severities: Readonly<Record<string, Style>> = { critical: 'bad', warning: 'warning', info: 'dim' };

function summaryLines(summary: Summary | undefined): readonly Line[] {
  if (summary === undefined) return [];
  const style = summary.verdict === 'up' ? 'good' : summary.verdict === 'unknown' ? 'dim' : 'bad';
  return [
    [],
    [piece(summary.verdict, style), piece('  '), piece(summary.headline, 'bold')],
    ...summary.findings.map(({ severity, text }) => [piece('  · ', severities[severity] ?? 'plain'), piece(text)]),
  ];
}
