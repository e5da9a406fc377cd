/** Content that an agent signs to prove that it holds the key of its probe. */
export interface AgentChallenge {
  /** Origin of the service, such as `https://vantage.example.com`: each side uses its own setting. */
  readonly origin: string;
  readonly probeId: string;
  /** Random bytes of the server, base64url; one connection uses it. */
  readonly nonce: string;
  /** Greater than every counter that this key was used with before. */
  readonly counter: number;
  /** Raw Ed25519 key, base64url without padding. */
  readonly publicKey: string;
  /** SHA-256 of the enrolment token, hexadecimal; absent if the agent presents none. */
  readonly tokenDigest?: string | undefined;
}

/** The 32 bytes of an Ed25519 public key, base64url without padding. */
export const PUBLIC_KEY_PATTERN = '^[A-Za-z0-9_-]{43}$';
/** The 64 bytes of an Ed25519 signature, base64url without padding. */
export const SIGNATURE_PATTERN = '^[A-Za-z0-9_-]{86}$';

/** An enrolment token: version, probe, 256 random bits. */
export const TOKEN_PATTERN = '^vt1_([a-z0-9][a-z0-9-]{0,62})_([A-Za-z0-9_-]{43})$';

const token = new RegExp(TOKEN_PATTERN);

/**
 * The text that an agent signs with Ed25519 (RFC 8032), as UTF-8. No field may contain a line feed, so that different
 * challenges have different texts; the first line separates it from every other use of the key.
 */
export function challengeText(challenge: AgentChallenge): string {
  const { origin, probeId, nonce, counter, publicKey, tokenDigest = '' } = challenge;
  return ['vantage-agent-challenge-1', origin, probeId, nonce, String(counter), publicKey, tokenDigest].join('\n');
}

/** @param secret 256 random bits, base64url without padding */
export function enrolmentToken(probeId: string, secret: string): string {
  return `vt1_${probeId}_${secret}`;
}

/** @returns the probe that a token enrols; undefined if it is not a token */
export function probeOfToken(text: string): string | undefined {
  return token.exec(text)?.[1];
}

/** Reasons for which a gateway refuses the identity of an agent. */
export const enrolmentRefusals = {
  'bad-signature':
    'VANTAGE_URL has another scheme, host or port than PUBLIC_URL of the coordinators, or the signature does not fit the key.',
  'unknown-probe': 'The probe has no enrolled agent; it needs a token of probe:invite.',
  'unknown-key': 'Another key is enrolled for the probe; it needs a token of probe:invite.',
  'token-invalid': 'The token is not one of the probe.',
  'token-used': 'The token has been used up; probe:invite makes another one.',
  'token-expired': 'The token has expired; probe:invite makes another one.',
  'stale-counter': 'A newer connection of the same agent was faster; try again with a new counter.',
  'copied-key': 'The counter was used before: the key is in use in two places.',
  suspended: 'The probe is suspended by its operator.',
} as const satisfies Record<string, string>;

export type EnrolmentRefusal = keyof typeof enrolmentRefusals;
