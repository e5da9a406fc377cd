import type { CheckOf, Client } from '@vantage/client';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

interface Waiting {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** True if the check ends with its event stream, which is then kept open while the result is awaited. */
  readonly endsWithStream: boolean;
}

export async function completed(checkId: string, waiting: Waiting): Promise<CheckOf<CheckTypeName>> {
  const { client, signal } = waiting;
  const over = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener('abort', end, { once: true });
  if (waiting.endsWithStream) void holdStream(checkId, client, over.signal);
  try {
    for (;;) {
      const check = await client.results(checkId, { waitSeconds: 25, signal });
      if (check.status === 'completed') return check;
    }
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Reads the events of a check and drops them. Never rejects. */
async function holdStream(checkId: string, client: Client, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of client.watch(checkId, { signal })) if (event.type === 'completed') return;
  } catch {
    // The caller reads the results with separate requests.
  }
}
