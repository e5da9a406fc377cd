import { ProblemError, type Client } from '@vantage/client';
import type { MonitorRequest } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { askedOf } from '../check/asked.ts';
import { nameOfCheck } from '../check/name.ts';
import type { CheckData } from '../check/use-check.ts';
import { faultText } from '../faults.ts';
import { useRouter } from '../parts/router.tsx';
import { recentChecks } from '../recent.ts';

export interface RepeatProps {
  readonly check: CheckData;
  readonly onClose: () => void;
}

interface Fault {
  readonly field: FieldName | undefined;
  readonly text: string;
}

type FieldName = 'name' | 'every' | 'when' | 'networks';

/** Makes a monitor that repeats a check. */
export function RepeatDialog({ check, onClose }: RepeatProps): JSX.Element {
  const { service, go } = useRouter();
  const dialog = useRef<HTMLDialogElement>(null);
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [, setChanges] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => service.keys.onChange(() => setChanges((count) => count + 1)), [service]);
  const { kind, target } = nameOfCheck(check.type, check.host, askedOf(check));
  const isKeyed = service.keys.key() !== undefined;

  const make = async (form: HTMLFormElement): Promise<void> => {
    const values = new FormData(form);
    const text = (field: FieldName): string => {
      const value = values.get(field);
      return typeof value === 'string' ? value.trim() : '';
    };
    const [name, every, when, networks] = [text('name'), text('every'), text('when'), Number(text('networks'))];
    setBusy(true);
    const found = await makeMonitor(service.client, name, {
      check: checkToRepeat(check),
      every,
      alarm: { when, networks },
    });
    setBusy(false);
    setFaults(found);
    if (found.length > 0) return;
    dialog.current?.close();
    go(`/m/${name}`);
  };
  const field = (name: FieldName, label: string, hint: string, value: string): JSX.Element => {
    const fault = faults.find((one) => one.field === name)?.text ?? '';
    return (
      <div class="field">
        <label for={`repeat-${name}`}>{label}</label>
        <input
          id={`repeat-${name}`}
          name={name}
          defaultValue={value}
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby={`repeat-${name}-hint`}
          aria-invalid={fault !== ''}
        />
        <p id={`repeat-${name}-hint`} class={fault === '' ? 'note' : 'error'}>
          {fault === '' ? hint : fault}
        </p>
      </div>
    );
  };
  const general = faults.filter((fault) => fault.field === undefined);
  return (
    <dialog ref={dialog} class="key-dialog" aria-labelledby="repeat-title" onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void make(event.currentTarget);
        }}
      >
        <h2 id="repeat-title">Repeat this check</h2>
        <p>
          A monitor runs {kind} {target} at an interval and turns bad when its probes agree.
        </p>
        {isKeyed ? (
          <>
            {field('name', 'Name', 'Lower-case letters, digits and hyphens.', slugOf(`${check.type}-${target}`))}
            {field('every', 'Every', 'From 10s to 1d, such as 30s, 5m or 1h.', '60s')}
            {field('when', 'Bad when these probes fail', 'A share, such as 3 of 5.', '1 of 2')}
            {field('networks', 'In at least so many networks', 'Probes of one network can fail together.', '1')}
          </>
        ) : (
          <p class="error">
            This needs an API key with the scope <code>monitor</code>. Give it by the key button at the top of the page.
          </p>
        )}
        <p class="error" role="alert">
          {general.map(({ text }) => text).join(' ')}
        </p>
        <p class="key-actions">
          {isKeyed ? (
            <button type="submit" class="button" disabled={isBusy}>
              Make the monitor
            </button>
          ) : null}
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </p>
      </form>
    </dialog>
  );
}

/** @returns the faults; none if the monitor was made */
async function makeMonitor(client: Client, name: string, request: MonitorRequest): Promise<readonly Fault[]> {
  try {
    // A PUT would replace it.
    if (await isThere(client, name)) return [{ field: 'name', text: 'There is a monitor with this name already.' }];
    await client.putMonitor(name, request);
    return [];
  } catch (error) {
    return faultsOf(error);
  }
}

async function isThere(client: Client, name: string): Promise<boolean> {
  try {
    await client.monitor(name);
    return true;
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return false;
    throw error;
  }
}

const fieldOfPath: Readonly<Record<string, FieldName>> = {
  '': 'name',
  '/every': 'every',
  '/alarm/when': 'when',
  '/alarm/networks': 'networks',
};

function faultsOf(error: unknown): readonly Fault[] {
  const errors = error instanceof ProblemError ? (error.problem?.errors ?? []) : [];
  if (errors.length === 0) return [{ field: undefined, text: faultText(error) }];
  return errors.map(({ path, message }) => {
    const field = Object.hasOwn(fieldOfPath, path) ? fieldOfPath[path] : undefined;
    return { field, text: field === undefined ? `${path}: ${message}` : message };
  });
}

/** The request of the check without its screenshot; with the check's probes if another browser sent it. */
function checkToRepeat(check: CheckData): Readonly<Record<string, unknown>> {
  const { testId, type, host, results } = check;
  const sent = recentChecks().find(({ id }) => id === testId)?.request as Readonly<Record<string, unknown>> | undefined;
  const { options, ...request } = sent ?? { type, host, ...askedOf(check), probes: Object.keys(results) };
  const { screenshot: _screenshot, ...kept } = (options ?? {}) as Readonly<Record<string, unknown>>;
  return Object.keys(kept).length === 0 ? request : { ...request, options: kept };
}

/** `http-www-example-com` of `http https://www.example.com/`. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace('https://', '')
    .replace('http://', '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');
}
