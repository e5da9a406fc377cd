/**
 * Ports of protocols that answer a small question with a large answer: a payload of a caller's would make the probe part
 * of an amplification attack. They get our own fixed question, or an empty datagram where there is no harmless one.
 */
const reflectorPorts: ReadonlySet<number> = new Set([7, 13, 17, 19, 111, 137, 389, 520, 1900, 3702, 5353, 11211]);

/** Ports on which only the question of the protocol is ever sent. */
const ownQuestionPorts: ReadonlySet<number> = new Set([53, 123, 161]);

/** True where a caller may choose what is sent. */
export function takesPayload(port: number): boolean {
  return !reflectorPorts.has(port) && !ownQuestionPorts.has(port);
}
