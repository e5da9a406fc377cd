import { tcp } from './tcp/contract.ts';

/** Every check type: one folder with its name beside this file, and one line here. A test holds the two equal. */
export const checkTypes = {
  tcp,
} as const;
