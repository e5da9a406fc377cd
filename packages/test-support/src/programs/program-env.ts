/**
 * The environment of a program that a test starts: of the test's own environment only PATH and the compile cache, which
 * saves a quarter of the CPU time of a start.
 */
export function programEnv(
  settings: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string | undefined>> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...settings };
}
