import { readFile } from 'node:fs/promises';

/** State TIME_WAIT in `/proc/net/tcp`: such a connection receives nothing. */
const TIME_WAIT = '06';

/**
 * True if a socket of this network namespace has the local port; a TCP connection in TIME_WAIT does not count. A client
 * may not send from the port: the packets would open a stateful firewall for the target, whose answers the kernel then
 * delivers to that socket. False on systems without procfs.
 */
export async function isBoundPort(protocol: 'udp' | 'tcp', port: number): Promise<boolean> {
  // Both families, since a socket of IPv6 may receive IPv4 too.
  const tables = await Promise.all([protocol, `${protocol}6`].map((name) => readTable(`/proc/net/${name}`)));
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return tables.flat().some((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    return local.endsWith(suffix) && !(protocol === 'tcp' && state === TIME_WAIT);
  });
}

async function readTable(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'latin1').catch(() => '');
  return text.split('\n').slice(1);
}
