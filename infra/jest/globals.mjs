/**
 * Stands for `@jest/globals`, whose modules live as long as the worker: the bindings are those of the suite that is
 * running.
 *
 * @module
 */
export let afterAll;
export let afterEach;
export let beforeAll;
export let beforeEach;
export let describe;
export let expect;
export let it;
export let jest;
export let test;

export function setGlobals(globals) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals);
}
