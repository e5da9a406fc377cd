const MAX_BACK_OFF_S = 600;
const MAX_REDIRECTS = 3;
const MAX_ANSWER_BYTES = 256 * 1024;

export type Fetched =
  | { readonly kind: 'answer'; readonly json: unknown }
  | { readonly kind: 'unknown' }
  /**
   * The server requests a pause: status 429 or 503, with the seconds of `Retry-After` (RFC 9110 section 10.2.3) or a
   * default.
   */
  | { readonly kind: 'busy'; readonly seconds: number }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Gets JSON of at most `MAX_ANSWER_BYTES`; follows up to `MAX_REDIRECTS` redirects, with which a bootstrap server leads
 * to the responsible registry (RFC 7480 section 5.2).
 *
 * @throws the error of the network, of JSON, or of the limit; the reason of the signal
 */
export async function fetchBounded(first: URL, signal: AbortSignal): Promise<Fetched> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      signal,
      headers: { accept: 'application/rdap+json, application/json' },
    });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      url = new URL(location, url);
      if (url.protocol !== 'https:' && url.protocol !== first.protocol) return failed('redirected to another protocol');
      continue;
    }
    if (response.status === 200) return { kind: 'answer', json: JSON.parse(await textOf(response)) };
    await response.body?.cancel();
    if (response.status === 404) return { kind: 'unknown' };
    if (response.status === 429 || response.status === 503) return { kind: 'busy', seconds: backOffOf(response) };
    return failed(`HTTP status ${response.status}`);
  }
  return failed(`more than ${MAX_REDIRECTS} redirects`);
}

function failed(reason: string): Fetched {
  return { kind: 'failed', reason };
}

function backOffOf(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 'none');
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), MAX_BACK_OFF_S) : MAX_BACK_OFF_S / 10;
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop cancels the body.
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
