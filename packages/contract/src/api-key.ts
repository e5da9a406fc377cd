/** Scopes of API keys; each guarded operation of the API needs one. */
export const keyScopes = {
  check: 'start checks',
  read: 'read checks, probes and the own address',
  monitor: 'create, change and remove monitors',
} as const;

export type KeyScope = keyof typeof keyScopes;

/** Text of an API key: a prefix that may be shown, and a secret of 256 bits in base64url. */
export const API_KEY = /^vtg_([a-z\d]{8})_([\w-]{43})$/;

const WHOLE_KEY = /vtg_[a-z\d]{8}_[\w-]{43}/i;

/** Part of a text that is, or may contain, the secret of a key. Case is ignored, because host names are lower-cased. */
const SECRET = /vtg_([a-z\d]{8}_)?[\w-]+/gi;

/** Maximum rounds of percent-decoding. A `%2525…` chain of any depth takes one round. */
const MOST_DECODINGS = 8;

/** Replaces the secret of every API key in a text that is not percent-encoded, such as a line of a log. */
export function withoutSecrets(text: string): string {
  return text.replaceAll(SECRET, (_, prefix: string | undefined) => `vtg_${prefix ?? ''}REDACTED`);
}

/**
 * Replaces the secret of every API key in a text from a client, percent-encoded spellings included, as far as
 * `MOST_DECODINGS` rounds decode them.
 *
 * @returns the same text if it has no key, else its decoded form without secrets
 */
export function withoutEncodedSecrets(text: string): string {
  const plain = percentDecoded(text);
  const clean = withoutSecrets(plain);
  return clean === plain ? text : clean;
}

/**
 * True for a text from a client that has a whole API key, also percent-encoded, as far as `MOST_DECODINGS` rounds
 * decode it.
 */
export function hasApiKey(text: string): boolean {
  return WHOLE_KEY.test(percentDecoded(text));
}

function percentDecoded(text: string): string {
  let plain = text;
  for (let round = 0; round < MOST_DECODINGS && plain.includes('%'); round += 1) {
    plain = plain
      .replaceAll(/%(?:25)+(?=[\da-f]{2})/gi, '%')
      // Byte by byte: an encoding of ASCII stays readable next to bytes that are not UTF-8.
      .replaceAll(/%([0-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return plain;
}
