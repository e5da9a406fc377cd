/** Groups of packets after a trace of which some were lost. */
export const lostInGroups = {
  sent: 12,
  received: 9,
  groups: [
    [9, null, 9, 9],
    [9, 9, 9, 9],
    [null, null, 9, 9],
  ],
};

/** Groups of packets after a trace to a target that limits its answers. */
export const limitedInGroups = {
  sent: 12,
  received: 6,
  groups: [
    [9, 9, 9, null],
    [null, null, null, null],
    [9, 9, 9, null],
  ],
};

/** A path with loss from its second hop on, by ten packets a hop. */
export const lossyHops = [
  '198.51.100.1 1 1 1',
  '192.0.2.1 * 5 5 * 5 5 5 * 5 5',
  '192.0.2.2 5 5 * 5 5 * * 5 5 5',
  '203.0.113.1 9 * 9 9 9 9 * 9 9 *',
];
