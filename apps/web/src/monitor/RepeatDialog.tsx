import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { requestOf, restrictionOf } from '../check/request.ts';
import { nameOfCheck } from '../check/name.ts';
import type { CheckData } from '../check/use-check.ts';
import { useRouter } from '../parts/router.tsx';
import { makeMonitor, slugOf, type RepeatFault, type RepeatField } from './make-monitor.ts';

export interface RepeatProps {
  readonly check: CheckData;
  readonly onClose: () => void;
}

/** Dialog that makes a monitor from a check. */
export function RepeatDialog({ check, onClose }: RepeatProps): JSX.Element {
  const { service, go } = useRouter();
  const dialog = useRef<HTMLDialogElement>(null);
  const [faults, setFaults] = useState<readonly RepeatFault[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [, setChanges] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => service.keys.onChange(() => setChanges((count) => count + 1)), [service]);
  const { target } = nameOfCheck(check.type, check.host, requestOf(check));
  const isKeyed = service.keys.key() !== undefined;

  const make = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true);
    const { name, faults: found } = await makeMonitor(service.client, check, new FormData(form));
    setBusy(false);
    setFaults(found);
    if (found.length > 0) return;
    dialog.current?.close();
    go(`/m/${name}`);
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
        <Intro check={check} />
        {isKeyed ? (
          <Fields name={slugOf(`${check.type}-${target}`)} faults={faults} />
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

/** Text about the check that the monitor will run. */
function Intro({ check }: { readonly check: CheckData }): JSX.Element {
  const { kind, target, details } = nameOfCheck(check.type, check.host, requestOf(check));
  const restriction = restrictionOf(check);
  return (
    <>
      <p>
        A monitor runs {kind} {target} at an interval and turns bad when its probes agree.
      </p>
      {details === '' ? null : <p class="note">{details}</p>}
      {restriction === undefined ? null : (
        <p>It runs {restriction}: they are known only where the check was started.</p>
      )}
    </>
  );
}

interface FieldsProps {
  /** Name suggested for the monitor. */
  readonly name: string;
  readonly faults: readonly RepeatFault[];
}

function Fields({ name, faults }: FieldsProps): JSX.Element {
  return (
    <>
      <Field name="name" label="Name" hint="Lower-case letters, digits and hyphens." value={name} faults={faults} />
      <Field name="every" label="Every" hint="From 10s to 1d, such as 30s, 5m or 1h." value="60s" faults={faults} />
      <Field
        name="when"
        label="Bad when these probes fail"
        hint="A share, such as 3 of 5."
        value="1 of 2"
        faults={faults}
      />
      <Field
        name="networks"
        label="In at least so many networks"
        hint="Probes of one network can fail together."
        value="1"
        faults={faults}
      />
    </>
  );
}

interface FieldProps {
  readonly name: RepeatField;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  /** The faults of all fields. */
  readonly faults: readonly RepeatFault[];
}

/** A text field with its hint, or its fault in the hint's place. */
function Field({ name, label, hint, value, faults }: FieldProps): JSX.Element {
  const fault = faults.find(({ field }) => field === name)?.text ?? '';
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
}
