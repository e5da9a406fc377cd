/**
 * UDP ports whose services are abused for reflection attacks, those of DNS, NTP and SNMP among them. With a payload of
 * a client, a probe could take part in an attack: a udp check sends them only the protocol payload of the port, or an
 * empty datagram.
 */
export const amplificationPorts: readonly number[] = [
  7, 13, 17, 19, 53, 111, 123, 137, 161, 389, 520, 1900, 3702, 5353, 11_211,
];

const closed: ReadonlySet<number> = new Set(amplificationPorts);

/** True if a client may choose the content of datagrams to the port. */
export function allowsPayload(port: number): boolean {
  return !closed.has(port);
}
