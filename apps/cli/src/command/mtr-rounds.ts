/** Default number of rounds of the command `mtr`. */
export const MTR_ROUNDS = '10';
