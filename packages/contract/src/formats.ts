import { Type, type Static } from './type.ts';

/** Names that operators and clients give: of probes, monitors, keys. */
export const NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,62}$';

export const HEX_BYTES_PATTERN = '^([0-9A-Fa-f]{2})*$';

/** Probe identifier, assigned by the operator. */
export const probeIdSchema = Type.String({
  pattern: NAME_PATTERN,
  maxLength: 63,
  description: 'Identifier of a probe: lower-case letters, digits and hyphens, at most 63.',
  examples: ['fra-1'],
});

/**
 * The id of a check: 128 random bits, base64url without padding; also the id of its jobs in BullMQ. New ids do not
 * begin with `-`, because a command line would take it for an option.
 */
export const CHECK_ID_PATTERN = '[A-Za-z0-9_-]{22}';

export const checkIdSchema = Type.String({
  pattern: `^${CHECK_ID_PATTERN}$`,
  maxLength: 22,
  description: 'Identifier of a check: 128 random bits, URL-safe.',
});

/** A time as `Date.prototype.toISOString` writes it: RFC 3339, UTC with milliseconds and `Z`. */
export const timestampSchema = Type.String({
  format: 'date-time',
  maxLength: 32,
  description: 'Time of day, ISO 8601 UTC with milliseconds.',
});

export const durationSchema = Type.Number({
  minimum: 0,
  description: 'Milliseconds, up to three decimals, from a monotonic clock.',
});

export const addressSchema = Type.String({
  maxLength: 45,
  description: 'IPv4 or IPv6 address in canonical text (RFC 5952 for IPv6).',
});

export const asnSchema = Type.String({
  pattern: '^AS[0-9]{1,10}$',
  maxLength: 12,
  description: 'Autonomous system number, AS<digits>.',
  examples: ['AS3320'],
});

export const familySchema = Type.Enum([4, 6], {
  description: 'Address family to use. Default: IPv4 if target and probe have it, else IPv6.',
});

/** Allows null for a value that may be missing. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- TypeBox infers it
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export type ProbeId = Static<typeof probeIdSchema>;
export type CheckId = Static<typeof checkIdSchema>;
export type Family = Static<typeof familySchema>;

const checkId = new RegExp(`^${CHECK_ID_PATTERN}$`);

/** True for a well-formed check id. */
export function isCheckId(id: string): boolean {
  return checkId.test(id);
}

/** Rounds a duration to the three decimals of the API. */
export function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
