import { MAX_RESULT_BYTES } from '@vantage/contract';

export type Fields = Readonly<Record<string, unknown>>;

export type Written =
  /** `left`: names of the omitted fields. */
  | { readonly json: string; readonly left: readonly string[]; readonly fault?: undefined }
  | { readonly json?: undefined; readonly left?: undefined; readonly fault: string };

/**
 * Serialises a result, omitting the largest optional fields until it fits the limit; a fault if the required fields
 * alone do not fit.
 */
export function fitResult(result: Fields, required: ReadonlySet<string>): Written {
  const rest = { ...result };
  const left: string[] = [];
  for (;;) {
    const json = JSON.stringify(rest);
    if (Buffer.byteLength(json) <= MAX_RESULT_BYTES) return { json, left };
    const [largest] = Object.keys(rest)
      .filter((name) => !required.has(name) && rest[name] !== undefined)
      .map((name) => ({ name, bytes: Buffer.byteLength(JSON.stringify(rest[name])) }))
      .toSorted((a, b) => b.bytes - a.bytes);
    if (largest === undefined) return { fault: `is longer than ${MAX_RESULT_BYTES} bytes` };
    delete rest[largest.name];
    left.push(largest.name);
  }
}
