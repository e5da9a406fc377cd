/**
 * The environment of a program that a test or command starts: the settings, PATH, and the compile cache, which makes a
 * start cheaper.
 */
export function programEnv(
  settings: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string | undefined>> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...settings };
}
