/**
 * Ports of amplification protocols, which answer a small query with a large response: with a client's payload, the
 * probe could take part in an attack. They get a fixed query, or an empty datagram if no harmless query exists.
 */
const reflectorPorts: ReadonlySet<number> = new Set([7, 13, 17, 19, 111, 137, 389, 520, 1900, 3702, 5353, 11211]);

/** Ports on which only the protocol's own query is ever sent. */
const ownQuestionPorts: ReadonlySet<number> = new Set([53, 123, 161]);

/** True if a client may choose the payload. */
export function takesPayload(port: number): boolean {
  return !reflectorPorts.has(port) && !ownQuestionPorts.has(port);
}
