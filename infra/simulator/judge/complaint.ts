/** What is compared with the truth. */
export const kinds = [
  'accusation',
  'missed',
  'place',
  'verdict',
  'reached',
  'stop',
  'hop',
  'link',
  'rtt',
  'loss',
  'mtu',
  'ping',
] as const;

export type Kind = (typeof kinds)[number];

/** Where a check or its summary says something else than what happened. */
export interface Complaint {
  readonly kind: Kind;
  readonly text: string;
}
