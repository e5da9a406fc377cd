import { createHash } from 'node:crypto';

/** A message to one webhook. It has no URL, which may be a secret: that of the monitor is read before each attempt. */
export interface WebhookMessage {
  readonly monitor: string;
  /** `digestOf` the URL. */
  readonly webhook: string;
  /** Id of the message; equal for every attempt and every webhook of the monitor. */
  readonly id: string;
  /** Body of the message, JSON. */
  readonly body: string;
  /** Tick that the message is about; undefined if an earlier release added it. */
  readonly tick?: number | undefined;
}

/** Identifies a URL among those of a monitor. */
export function digestOf(url: string): string {
  return createHash('sha256').update(url).digest('base64url').slice(0, 22);
}
