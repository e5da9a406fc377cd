import { Agent, request } from 'node:http';

/**
 * The subset of `fetch` that the client needs, over `node:http` with kept-alive connections. The standard `fetch` takes
 * more time per request in the measuring process.
 */
export function createLeanFetch(): { readonly fetch: typeof fetch; readonly close: () => void } {
  const agent = new Agent({ keepAlive: true });
  return {
    fetch: (input, init) =>
      new Promise((resolve, reject) => {
        const { method = 'GET', headers, body } = init ?? {};
        const options = { agent, method, headers: headers as Readonly<Record<string, string>> };
        const sent = request(input instanceof Request ? input.url : input, options, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => resolve(answer(response.statusCode ?? 500, Buffer.concat(chunks).toString())));
          response.on('error', reject);
        });
        sent.on('error', reject);
        sent.end(typeof body === 'string' ? body : undefined);
      }),
    close: () => agent.destroy(),
  };
}

/** An error response only needs to be readable: its time is not measured. */
function answer(status: number, text: string): Response {
  if (status >= 400) {
    return new Response(text, { status, headers: { 'content-type': 'application/problem+json' } });
  }
  return { ok: true, status, json: async (): Promise<unknown> => JSON.parse(text) } as Response;
}
