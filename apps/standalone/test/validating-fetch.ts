import { createConformance } from '@vantage/coordinator';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';

export interface ValidatingFetch {
  /**
   * `fetch` that validates each response against the OpenAPI document. A request that was answered with 503 is repeated.
   */
  readonly fetch: typeof fetch;
  /** All violations, with their requests. */
  readonly violations: readonly string[];
  readonly checked: () => number;
  /** Resolves when all event streams have ended and been validated. */
  readonly settled: () => Promise<void>;
}

export async function validatingFetch(baseUrl: string): Promise<ValidatingFetch> {
  const document = await fetch(`${baseUrl}/openapi.json`);
  const faultsOf = createConformance(await document.json());
  const violations: string[] = [];
  const streams: Promise<void>[] = [];
  let checked = 0;
  return {
    settled: async () => void (await Promise.all(streams)),
    fetch: async (input, init) => {
      const response = await fetchAccepted(input, init);
      const url = new URL(input instanceof Request ? input.url : input);
      const method = init?.method ?? 'GET';
      const judge = (body: string): void => {
        const { status, headers } = response;
        const faults = faultsOf({ method, path: url.pathname, status, headers, body });
        checked += 1;
        violations.push(...faults.map((fault) => `${method} ${url.pathname} → ${status}: ${fault}`));
      };
      const text = response.clone().text();
      // An interrupted stream is no violation.
      if (isEventStream(response)) streams.push(text.then(judge, () => undefined));
      else judge(await text);
      return response;
    },
    violations,
    checked: () => checked,
  };
}

function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type') === 'text/event-stream';
}
