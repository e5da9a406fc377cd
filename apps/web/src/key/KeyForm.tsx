import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { visiblePart } from '../api-key.ts';
import { useService } from '../parts/router.tsx';
import { keyFault } from './key-fault.ts';

/** Field for the API key, and the key in use. */
export function KeyForm({ close }: { readonly close: () => void }): JSX.Element {
  const { keys, tryKey } = useService();
  const field = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState('');
  const [isBusy, setBusy] = useState(false);

  const use = async (): Promise<void> => {
    const given = field.current?.value.trim() ?? '';
    setBusy(true);
    const found = await keyFault(given, tryKey);
    setBusy(false);
    setFault(found);
    if (found !== '') return;
    keys.hold(given);
    field.current!.value = '';
    close();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void use();
      }}
    >
      <h2 id="key-title">API key</h2>
      <p>
        Checks need no key; to make or remove a monitor needs one. A key from the operator of this service has its own
        limits. It stays in this tab until you close it.
      </p>
      <HeldKey onRemove={() => setFault('')} />
      <div class="field">
        <label for="api-key">Key</label>
        <input
          ref={field}
          id="api-key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="key-fault"
          aria-invalid={fault !== ''}
        />
      </div>
      <p id="key-fault" class="error" role="alert">
        {fault}
      </p>
      <p class="key-actions">
        <button type="submit" class="button" disabled={isBusy}>
          Use the key
        </button>
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </p>
    </form>
  );
}

/** The key in use, and the button that removes it. */
function HeldKey({ onRemove }: { readonly onRemove: () => void }): JSX.Element | null {
  const { keys } = useService();
  const key = keys.key();
  if (key === undefined) return null;
  return (
    <p class="held-key">
      <span>
        In use: <code>{visiblePart(key)}…</code>
        {keys.isRefused() ? ', which the service refuses' : ''}
      </span>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          keys.hold(undefined);
          onRemove();
        }}
      >
        Remove the key
      </button>
    </p>
  );
}
