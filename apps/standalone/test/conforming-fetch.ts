import { createConformance } from '@vantage/coordinator';

export interface Conformance {
  /** `fetch` that holds each answer against the OpenAPI document of the service. */
  readonly fetch: typeof fetch;
  /** Every fault found, with the request it was in. */
  readonly violations: readonly string[];
  readonly checked: () => number;
}

export async function conformingFetch(baseUrl: string): Promise<Conformance> {
  const document = await fetch(`${baseUrl}/openapi.json`);
  const faultsOf = createConformance(await document.json());
  const violations: string[] = [];
  let checked = 0;
  return {
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const url = new URL(input instanceof Request ? input.url : input);
      const method = init?.method ?? 'GET';
      const faults = faultsOf({
        method,
        path: url.pathname,
        status: response.status,
        headers: response.headers,
        body: await response.clone().text(),
      });
      checked += 1;
      violations.push(...faults.map((fault) => `${method} ${url.pathname} → ${response.status}: ${fault}`));
      return response;
    },
    violations,
    checked: () => checked,
  };
}
