import type { Figure } from '../goals.ts';
import { startChecks } from './checks.ts';
import { deviation } from './deviation.ts';
import { digMs, kdigMs } from './dig.ts';
import { httpPhases, httpWithLoss, type Bench } from './http.ts';
import { createLinkLab, paths, type Path } from './lab.ts';
import { curl } from '../http/curl.ts';
import { files, hostOf, ports, startServers, urlOf, type FileName } from './servers.ts';

const ROUNDS = 15;
const QUICK_ROUNDS = 5;
/** Sample size for which the bounds of the comparison of distributions hold. */
const LOSSY_ROUNDS = 60;

/**
 * http, tcp and dns checks over links with a round trip of 50 and 150 ms, alternately with curl, dig and kdig, and over
 * one that loses packets. Needs root, for network namespaces.
 *
 * @param isQuick few rounds, and no lossy link
 */
export async function links(isQuick: boolean): Promise<readonly Figure[]> {
  const lab = await createLinkLab();
  try {
    const { rootFile, stop } = await startServers(lab.inside('servers'));
    const checks = startChecks(lab.inside('probe'), rootFile);
    const bench = { lab, checks, rootFile };
    const rounds = isQuick ? QUICK_ROUNDS : ROUNDS;
    try {
      const figures: Figure[] = [];
      for (const path of Object.values(paths)) {
        figures.push(...(await httpPhases(bench, path, Object.keys(files) as FileName[], rounds)));
        figures.push(await tcpConnect(bench, path, rounds), ...(await dnsQueries(bench, path, rounds)));
      }
      return isQuick ? figures : [...figures, ...(await httpWithLoss(bench, LOSSY_ROUNDS))];
    } finally {
      await checks.stop();
      await stop();
    }
  } finally {
    lab.remove();
  }
}

async function tcpConnect({ lab, checks, rootFile }: Bench, path: Path, rounds: number): Promise<Figure> {
  const [ours, curls]: [number[], number[]] = [[], []];
  const { address } = path;
  for (let round = 0; round < rounds; round += 1) {
    ours.push((await checks.check({ type: 'tcp', address, port: ports.https, resolver: address })).rt!);
    curls.push((await curl(urlOf(path, '20 KB', address), '1.1', rootFile, lab.inside('probe'))).connect);
  }
  return deviation(`tcp check at ${path.name}: rt`, 'curl', ours, curls);
}

const transports = [
  ['udp', ports.dns],
  ['tcp', ports.dns],
  ['tls', ports.tls],
  ['https', ports.doh],
] as const;

/**
 * `dig` starts its clock at the query, `kdig` before the connection. `kdig` needs more round trips than the check if
 * the server delays small segments until earlier ones are acknowledged (RFC 896): then the check may be faster.
 */
async function dnsQueries({ lab, checks }: Bench, path: Path, rounds: number): Promise<readonly Figure[]> {
  const inside = lab.inside('probe');
  const figures: Figure[] = [];
  for (const [transport, port] of transports) {
    const isPlain = transport === 'udp' || transport === 'tcp';
    const [ours, peers]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const resolver = `${path.address}:${port}`;
      const { timings } = await checks.check({ type: 'dns', name: hostOf(path), transport, resolver });
      const { connect, tls, query } = timings!;
      ours.push(isPlain ? query! : connect! + tls! + query!);
      peers.push(isPlain ? await digMs(path, transport, inside) : await kdigMs(path, transport, inside));
    }
    const name = `dns check over ${transport} at ${path.name}`;
    if (isPlain) figures.push(deviation(`${name}: query`, 'dig', ours, peers));
    else figures.push(deviation(`${name}: connect, tls and query`, 'kdig', ours, peers, 'above'));
  }
  return figures;
}
