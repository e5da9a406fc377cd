/** Amplification ports, and those of DNS, NTP and SNMP: they get protocol payloads only, as in the target policy. */
const closedPorts: ReadonlySet<number> = new Set([
  7, 13, 17, 19, 53, 111, 123, 137, 161, 389, 520, 1900, 3702, 5353, 11211,
]);

/** True if a trace may send datagrams to the port. */
export function takesTrace(port: number): boolean {
  return !closedPorts.has(port);
}
