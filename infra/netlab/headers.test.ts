import { once } from 'node:events';

import { afterAll, describe, expect } from '@jest/globals';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import type { Summary } from '../../packages/contract/src/index.ts';
import { summarize } from '../../packages/summary/src/index.ts';
import { netlabMissing } from './netlab.ts';
import { openTestLab, type Ping, type Traceroute } from './test-lab.ts';
import { ipv4, ipv6, type NodeName } from './topology.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const lab = missing === null ? await openTestLab() : undefined;
const tools = missing === null ? await unpackPackages('tcpdump', 'nftables') : undefined;
afterAll(() => lab?.close());

const targets = [
  { family: 4, target: ipv4(4, 2) },
  { family: 6, target: ipv6(4, 2) },
] as const;
const library = `LD_LIBRARY_PATH=${tools?.environment['LD_LIBRARY_PATH'] ?? ''}`;

/** A datagram to this port (discard) ends a capture. */
const END_PORT = 9;

/** Packets that leave the probe for the target during the run, as tcpdump prints them. */
async function sentDuring(target: string, filter: string, run: () => Promise<unknown>): Promise<readonly string[]> {
  const captured = `dst host ${target} and (udp dst port ${END_PORT} or (${filter}))`;
  const capture = ['-n', '-v', '-l', '-U', '--immediate-mode', '-Z', 'root', '-Q', 'out', '-i', 'to0a', captured];
  // tcpdump reports on standard error that it listens.
  const script = 'exec env "$0" "$@" 2>&1';
  const child = lab!.start('probe', 'sh', '-c', script, library, tools!.program('tcpdump'), ...capture);
  let printed = '';
  const listens = Promise.withResolvers<void>();
  child.stdout!.on('data', (text: Buffer) => {
    printed += text.toString();
    if (printed.includes('listening on')) listens.resolve();
  });
  child.once('exit', () => listens.reject(new Error(`tcpdump ended: ${printed}`)));
  await listens.promise;
  printed = '';
  await run();
  // The end packet leaves after all others, so tcpdump has printed those when it ends.
  const isEnd = (packet: string) => packet.includes(`.${END_PORT}: `);
  await lab!.run('probe', 'bash', '-c', `echo > /dev/udp/${target}/${END_PORT}`);
  while (!isEnd(printed)) await once(child.stdout!, 'data');
  child.kill('SIGINT');
  await once(child, 'close');
  return printed.split(/\n(?=\d)/).filter((packet) => / > /.test(packet) && !isEnd(packet));
}

async function withRules(node: NodeName, rules: string, run: () => Promise<void>): Promise<void> {
  const nft = (commands: string) => lab!.run(node, 'env', library, tools!.program('nft'), commands);
  const added = await nft(`table inet trial {\n${rules}\n}\n`);
  expect(added).toMatchObject({ status: 0 });
  try {
    await run();
  } finally {
    await nft('delete table inet trial');
  }
}

function summaryOf(host: string, outcome: Ping | Traceroute): Summary {
  const at = '2026-01-01T00:00:00.000Z';
  const results = { 'lab-1': { ...outcome, startedAt: at, finishedAt: at } };
  const check = { testId: 'qPUXvL1sQx2rGJm0Zf7N4w', type: 'traceroute', host, status: 'completed' as const };
  return summarize({ ...check, createdAt: at, completedAt: at, results }, new Map());
}

const textOf = ({ findings }: Summary, code: string): string | undefined =>
  findings.find((finding) => finding.code === code)?.text;

describe.each(targets)('packets over IPv$family, as tcpdump sees them', ({ family, target }) => {
  const ip = family === 4 ? 'ip' : 'ip6';
  const [marked, bytes] = family === 4 ? ['tos 0xb8', 'length 700)'] : ['class 0xb8', 'payload length: 660)'];

  for (const protocol of ['icmp', 'udp'] as const) {
    itInNetlab(`have DSCP and size: ${protocol}`, async () => {
      const packets = await sentDuring(target, `${ip} and less 900`, () =>
        lab!.trace(target, { protocol, dscp: 46, size: 700 }),
      );

      // The search for the path MTU also sends echo requests; with this size of packets, the only one below 900 bytes
      // has 576, over IPv4.
      const isOfSearch = (packet: string) =>
        /echo request/.test(packet) && (protocol === 'udp' || packet.includes('length 576)'));
      const traced = packets.filter((packet) => !isOfSearch(packet));
      expect(traced.length).toBeGreaterThan(4);
      expect(packets.length - traced.length).toBeLessThanOrEqual(1);
      for (const packet of traced) {
        expect(packet).toContain(marked);
        expect(packet).toContain(bytes);
      }
    });
  }

  itInNetlab('have the source ports, and the next ones for further flows', async () => {
    const options = { protocol: 'tcp', dscp: 10, sourcePort: 29_400, flows: 2 };
    const packets = await sentDuring(target, `${ip} proto 6`, () => lab!.trace(target, options));
    const ports = packets.flatMap((packet) => /\.(\d+) > /.exec(packet)?.[1] ?? []);

    expect(new Set(ports)).toEqual(new Set(['29400', '29401']));
  });

  itInNetlab('have the DSCP in a ping, and none in the next', async () => {
    const packets = await sentDuring(target, ip, async () => {
      await lab!.ping(target, { count: 1, dscp: 46 });
      await lab!.ping(target, { count: 1 });
    });

    expect(packets.map((packet) => packet.includes(marked))).toEqual([true, false]);
  });
});

describe('headers that routers change', () => {
  for (const [family, target, r2, rule] of [
    ['IPv4', ipv4(4, 2), ipv4(2, 2), 'ip dscp set cs1'],
    ['IPv6', ipv6(4, 2), ipv6(2, 2), 'ip6 dscp set cs1'],
  ] as const) {
    itInNetlab(`are seen in quotations: the DSCP over ${family}`, async () => {
      const chain = `chain change {\ntype filter hook prerouting priority mangle;\nicmp type { time-exceeded, destination-unreachable } accept\nicmpv6 type { time-exceeded, destination-unreachable } accept\n${rule}\n}`;
      const options = { protocol: 'udp', dscp: 46 };
      await withRules('r2', chain, async () => {
        const changed = await lab!.trace(target, options);

        expect(changed.hops?.map(({ replies }) => [...new Set(replies?.map(({ quotedDscp }) => quotedDscp))])).toEqual([
          [46],
          [8],
          [8],
          [8],
        ]);
        expect(textOf(summaryOf(target, changed), 'dscp_changed')).toContain(`DSCP 46 becomes 8 at hop 2, ${r2}`);
      });
      const untouched = await lab!.trace(target, options);
      expect(textOf(summaryOf(target, untouched), 'dscp_changed')).toBeUndefined();
    });
  }

  for (const protocol of ['icmp', 'udp', 'tcp']) {
    itInNetlab(`are no claim where Linux restores them: NAT of ${protocol}`, async () => {
      const chain = 'chain masks {\ntype nat hook postrouting priority srcnat;\noifname "to2a" masquerade\n}';
      await withRules('r2', chain, async () => {
        const target = ipv4(4, 2);
        const translated = await lab!.trace(target, { protocol });

        expect(translated).toMatchObject({ result: 'success', reached: true });
        expect(translated.hops?.map(({ ip }) => ip)).toEqual([ipv4(1, 2), ipv4(2, 2), ipv4(3, 2), target]);
        expect(textOf(summaryOf(target, translated), 'path_translated')).toBeUndefined();
      });
    });
  }
});
