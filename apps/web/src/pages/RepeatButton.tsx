import type { ComponentType, JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { CheckData } from '../check/use-check.ts';
import type { RepeatProps } from '../monitor/RepeatDialog.tsx';
import { Icon } from '../parts/icons.tsx';

/** Makes a monitor from a check; the code of the dialog is loaded when it is needed. */
export function RepeatButton({ check }: { readonly check: CheckData }): JSX.Element {
  const [Dialog, setDialog] = useState<{ readonly of: ComponentType<RepeatProps> }>();
  const open = async (): Promise<void> => {
    // If the service was away, a second press loads the code again.
    const loaded = await import('./monitoring.ts').catch(() => undefined);
    if (loaded !== undefined) setDialog({ of: loaded.RepeatDialog });
  };
  return (
    <>
      <button type="button" class="quiet" onClick={() => void open()}>
        <Icon name="repeat" />
        Repeat this
      </button>
      {Dialog === undefined ? null : <Dialog.of check={check} onClose={() => setDialog(undefined)} />}
    </>
  );
}
