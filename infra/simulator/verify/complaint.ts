/** Aspects that are compared with the simulated network. */
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

/** A statement of a check or its summary that contradicts the simulated network, or one that is missing. */
export interface Complaint {
  readonly kind: Kind;
  readonly text: string;
}
