import { createConformance } from '@vantage/coordinator';

export interface Conformance {
  /** `fetch` that holds each answer against the OpenAPI document of the service. */
  readonly fetch: typeof fetch;
  /** Every fault found, with the request it was in. */
  readonly violations: readonly string[];
  readonly checked: () => number;
  /** Resolves when every event stream that was opened has ended and been held against the document as well. */
  readonly settled: () => Promise<void>;
}

export async function conformingFetch(baseUrl: string): Promise<Conformance> {
  const document = await fetch(`${baseUrl}/openapi.json`);
  const faultsOf = createConformance(await document.json());
  const violations: string[] = [];
  const streams: Promise<void>[] = [];
  let checked = 0;
  return {
    settled: async () => void (await Promise.all(streams)),
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const url = new URL(input instanceof Request ? input.url : input);
      const method = init?.method ?? 'GET';
      const judge = (body: string): void => {
        const { status, headers } = response;
        const faults = faultsOf({ method, path: url.pathname, status, headers, body });
        checked += 1;
        violations.push(...faults.map((fault) => `${method} ${url.pathname} → ${status}: ${fault}`));
      };
      const text = response.clone().text();
      // One that breaks off says nothing of the service.
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
