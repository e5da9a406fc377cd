import { isFinalRefusal, ProblemError, type Client } from '@vantage/client';

import { requestOf, requestFieldsOf, sentBy, type RequestFields } from '../check/request.ts';
import type { CheckData } from '../check/use-check.ts';
import { faultText } from '../faults.ts';

/** A field of the dialog that makes a monitor of a check. */
export type RepeatField = 'name' | 'every' | 'when' | 'networks';

export interface RepeatFault {
  /** Undefined if the fault belongs to no field. */
  readonly field: RepeatField | undefined;
  readonly text: string;
}

/**
 * Makes a monitor that repeats a check.
 *
 * @param values of the dialog's form
 * @returns the name of the monitor, and the faults; none if the monitor was made
 */
export async function makeMonitor(
  client: Client,
  check: CheckData,
  values: FormData,
): Promise<{ readonly name: string; readonly faults: readonly RepeatFault[] }> {
  const text = (field: RepeatField): string => {
    const value = values.get(field);
    return typeof value === 'string' ? value.trim() : '';
  };
  const name = text('name');
  try {
    if (await isThere(client, name)) {
      // A PUT would replace the other monitor.
      return { name, faults: [{ field: 'name', text: 'There is a monitor with this name already.' }] };
    }
    const alarm = { when: text('when'), networks: Number(text('networks')) };
    await client.putMonitor(name, { check: checkToRepeat(check), every: text('every'), alarm });
    return { name, faults: [] };
  } catch (error) {
    return { name, faults: faultsOf(error) };
  }
}

async function isThere(client: Client, name: string): Promise<boolean> {
  try {
    await client.monitor(name);
    return true;
  } catch (error) {
    if (isFinalRefusal(error) && error.status === 404) return false;
    throw error;
  }
}

const fieldOfPath: Readonly<Record<string, RepeatField>> = {
  '': 'name',
  '/every': 'every',
  '/alarm/when': 'when',
  '/alarm/networks': 'networks',
};

function faultsOf(error: unknown): readonly RepeatFault[] {
  const errors = error instanceof ProblemError ? (error.problem?.errors ?? []) : [];
  if (errors.length === 0) return [{ field: undefined, text: faultText(error) }];
  return errors.map(({ path, message }) => {
    const field = Object.hasOwn(fieldOfPath, path) ? fieldOfPath[path] : undefined;
    return { field, text: field === undefined ? `${path}: ${message}` : message };
  });
}

/**
 * The request of the check without its `screenshot` option; with the check's probes if this browser does not remember
 * it.
 */
function checkToRepeat(check: CheckData): Readonly<Record<string, unknown>> {
  const { type, host, results } = check;
  const asked: RequestFields = { type, host, ...requestFieldsOf(requestOf(check)), probes: Object.keys(results) };
  const { options, ...request } = sentBy(check) ?? asked;
  const { screenshot: _screenshot, ...kept } = (options ?? {}) as Readonly<Record<string, unknown>>;
  return Object.keys(kept).length === 0 ? request : { ...request, options: kept };
}

/** A name for a monitor: `http-www-example-com` of `http-https://www.example.com/`. */
export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace('https://', '')
    .replace('http://', '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');
}
