/**
 * Ports to which no trace sends datagrams: those of protocols that answer a small question with a large answer, and those
 * on which only the question of the protocol is ever sent. The target policy has the same list.
 */
const closedPorts: ReadonlySet<number> = new Set([
  7, 13, 17, 19, 53, 111, 123, 137, 161, 389, 520, 1900, 3702, 5353, 11211,
]);

/** True if a trace may send datagrams to the port. */
export function takesTrace(port: number): boolean {
  return !closedPorts.has(port);
}
