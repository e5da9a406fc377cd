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
