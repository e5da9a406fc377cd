/**
 * A sentence about the proxy that the environment names for this URL; empty without one. Node.js ignores these
 * variables unless it is asked to use them.
 */
export function proxyNote(env: Readonly<Record<string, string | undefined>>, baseUrl: string): string {
  const scheme = new URL(baseUrl).protocol.replace(':', '');
  const name = [`${scheme}_proxy`, `${scheme}_proxy`.toUpperCase()].find((variable) => env[variable]);
  if (name === undefined) return '';
  const isUsed = env['NODE_USE_ENV_PROXY'] === '1' || /--use-env-proxy\b/.test(env['NODE_OPTIONS'] ?? '');
  return isUsed
    ? ` It was asked through the proxy in ${name}, unless NO_PROXY has its host.`
    : ` ${name} is set: Node.js uses it with NODE_USE_ENV_PROXY=1 (from Node 22.21 and 24 on).`;
}
