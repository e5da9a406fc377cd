/**
 * A sentence about the proxy that the environment names for this URL; empty if there is none, if `NO_PROXY` has the
 * host, or if the service is on this machine and the proxy is not in use. Node.js ignores these variables by default.
 */
export function proxyNote(env: Readonly<Record<string, string | undefined>>, baseUrl: string): string {
  const name = proxyVariable(env, new URL(baseUrl).protocol);
  if (name === undefined || isExempt(env['no_proxy'] ?? env['NO_PROXY'] ?? '', new URL(baseUrl))) return '';
  const isUsed = env['NODE_USE_ENV_PROXY'] === '1' || /--use-env-proxy\b/.test(env['NODE_OPTIONS'] ?? '');
  if (isUsed) return ` It was asked through the proxy in ${name}, unless NO_PROXY has its host.`;
  // A proxy elsewhere does not reach a service of this machine.
  if (/^(?:(?:.*\.)?localhost|127\..*|\[::1\])$/.test(new URL(baseUrl).hostname)) return '';
  return ` ${name} is set: Node.js uses it with NODE_USE_ENV_PROXY=1 (from Node 22.21 and 24 on).`;
}

/** As in `fetch`: an empty variable hides the one in upper case, and the proxy of http serves https without another. */
function proxyVariable(env: Readonly<Record<string, string | undefined>>, protocol: string): string | undefined {
  return (protocol === 'https:' ? ['https_proxy', 'http_proxy'] : ['http_proxy'])
    .map((name) => (env[name] === undefined ? name.toUpperCase() : name))
    .find((name) => env[name]);
}

/**
 * True if the list has the host: by name, which includes the names below it, with or without a port and a leading `.`
 * or `*.`; `*` alone has every host. Ranges of addresses have no effect on `fetch`.
 */
function isExempt(list: string, { hostname, port, protocol }: URL): boolean {
  const authority = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  if (list === '*') return true;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const name = entry.replace(/^\*?\./, '');
      return [hostname, authority].some((own) => name !== '' && `.${own}`.endsWith(`.${name}`));
    });
}
