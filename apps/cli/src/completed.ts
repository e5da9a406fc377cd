import type { CheckOf, Client } from '@vantage/client';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

/** Waits for the completed check. */
export async function completed(checkId: string, client: Client, signal: AbortSignal): Promise<CheckOf<CheckTypeName>> {
  for (;;) {
    const check = await client.results(checkId, { waitSeconds: 25, signal });
    if (check.status === 'completed') return check;
  }
}
