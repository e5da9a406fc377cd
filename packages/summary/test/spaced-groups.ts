/** Groups of packets to the target after a trace; some of the packets were lost. */
export const lostInGroups = {
  sent: 12,
  received: 9,
  groups: [
    [9, null, 9, 9],
    [9, 9, 9, 9],
    [null, null, 9, 9],
  ],
};

/** Groups of packets after a trace; the target rate-limits its answers. */
export const limitedInGroups = {
  sent: 12,
  received: 6,
  groups: [
    [9, 9, 9, null],
    [null, null, null, null],
    [9, 9, 9, null],
  ],
};

/** A path with loss from its second hop on; ten packets were sent to each of these hops. */
export const lossyHops = [
  '198.51.100.1 1 1 1',
  '192.0.2.1 * 5 5 * 5 5 5 * 5 5',
  '192.0.2.2 5 5 * 5 5 * * 5 5 5',
  '203.0.113.1 9 * 9 9 9 9 * 9 9 *',
];
