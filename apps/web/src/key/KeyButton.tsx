import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { visiblePart } from '../api-key.ts';
import { Icon } from '../parts/icons.tsx';
import { useService } from '../parts/router.tsx';
import { lazyView } from '../parts/view.tsx';

const form = lazyView(
  async () => (await import('./KeyForm.tsx')).KeyForm,
  () => <p class="note">The form is being loaded.</p>,
);

/** A button that opens the dialog for the API key; its label has the visible part of the key in use. */
export function KeyButton(): JSX.Element {
  const { keys } = useService();
  const [, setChanges] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  // A layout effect, because the refusal of the first request can arrive before the effects that follow the paint.
  useLayoutEffect(() => keys.onChange(() => setChanges((count) => count + 1)), [keys]);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  const key = keys.key();
  const name = `API key: ${key === undefined ? 'none' : visiblePart(key)}${keys.isRefused() ? ', refused' : ''}`;
  return (
    <>
      <button
        type="button"
        class={`quiet key-button${keys.isRefused() ? ' refused' : key === undefined ? '' : ' held'}`}
        aria-label={name}
        title={name}
        onClick={() => void form.load().then(() => setOpen(true))}
      >
        <Icon name="key" />
      </button>
      {isOpen ? (
        <dialog ref={dialog} class="key-dialog" aria-labelledby="key-title" onClose={() => setOpen(false)}>
          <form.View close={() => dialog.current?.close()} />
        </dialog>
      ) : undefined}
    </>
  );
}
