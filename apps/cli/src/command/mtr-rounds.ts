/** Default number of rounds of `mtr`, that of `mtr --report`. */
export const MTR_ROUNDS = '10';
