import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { IP } from './namespaces.ts';
import { netlabMissing } from './netlab.ts';
import { openTestLab, type Traceroute } from './test-lab.ts';
import { ipv4, type NodeName } from './topology.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const lab = missing === null ? await openTestLab() : undefined;
const [dublin, nft] =
  missing === null ? await Promise.all([unpackPackages('dublin-traceroute'), unpackPackages('nftables')]) : [];
beforeAll(async () => {
  // dublin-traceroute asks for the name of each hop: its queries are refused at once, so it does not wait for answers.
  if (missing === null) await lab!.run('probe', IP, 'rule', 'add', 'pref', '1', 'dport', '53', 'prohibit');
});
afterAll(() => lab?.close());

const TARGET = ipv4(4, 2);
const [PROBE, OUTSIDE] = [ipv4(1, 1), '10.200.2.77'];
const MAX_TTL = 6;
const librariesOf = (tools: typeof dublin): string => `LD_LIBRARY_PATH=${tools!.environment['LD_LIBRARY_PATH']}`;

/** The address of a hop, and whether the packet that it quotes was translated on its way. */
interface SeenHop {
  readonly ip: string;
  readonly isTranslated: boolean;
}

async function withRules(node: NodeName, table: string, run: () => Promise<void>): Promise<void> {
  const command = (text: string) => lab!.run(node, 'env', librariesOf(nft), nft!.program('nft'), text);
  expect(await command(`table ip trial {\n${table}\n}\n`)).toMatchObject({ status: 0 });
  try {
    await run();
  } finally {
    await command('delete table ip trial');
  }
}

interface DublinHop {
  readonly received: { readonly ip: { readonly src: string } } | null;
  readonly nat_id: number;
}

/** Hops found by dublin-traceroute up to the target, which answers all packets with a higher TTL, too. */
async function byDublin(): Promise<readonly SeenHop[]> {
  const folder = await mkdtemp(join(tmpdir(), 'vantage-dublin-'));
  try {
    const file = join(folder, 'trace.json');
    const words = ['--npaths=2', `--max-ttl=${MAX_TTL}`, '--delay=200', '--broken-nat', TARGET];
    // dublin-traceroute writes into the working directory.
    const inFolder = ['-C', folder, librariesOf(dublin), 'RES_OPTIONS=timeout:1 attempts:1'];
    const child = lab!.start('probe', 'env', ...inFolder, dublin!.program('dublin-traceroute'), ...words);
    child.stdout!.resume();
    await once(child, 'exit');
    const { flows } = JSON.parse(await readFile(file, 'utf8')) as { flows: Record<string, DublinHop[]> };
    const [first, second] = Object.values(flows) as [DublinHop[], DublinHop[]];
    // dublin-traceroute sends the first packet before it listens.
    const answered = first.map((hop, index) => (hop.received === null ? second[index]! : hop));
    const hops = answered.flatMap(({ received, nat_id: id }) =>
      received === null ? [] : [{ ip: received.ip.src, isTranslated: id !== 0 }],
    );
    return hops.slice(0, hops.findIndex(({ ip }) => ip === TARGET) + 1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function ours({ hops = [] }: Traceroute): readonly SeenHop[] {
  return hops.map(({ ip, replies = [] }) => ({
    ip: ip!,
    isTranslated: replies.some(({ rewritten = [] }) => rewritten.length > 0),
  }));
}

describe('address translation, as dublin-traceroute sees it', () => {
  const path = [ipv4(1, 2), ipv4(2, 2), ipv4(3, 2), TARGET];

  for (const [nat, rules, translated] of [
    ['none', '', [false, false, false, false]],
    [
      'that restores no quotation',
      `chain there {\ntype filter hook postrouting priority raw;\noifname "to2a" ip saddr ${PROBE} ip saddr set ${OUTSIDE}\n}\n` +
        `chain back {\ntype filter hook prerouting priority raw;\nip daddr ${OUTSIDE} ip daddr set ${PROBE}\n}`,
      [false, false, true, true],
    ],
    [
      'of Linux, which restores quotations',
      'chain masks {\ntype nat hook postrouting priority srcnat;\noifname "to2a" masquerade\n}',
      [false, false, false, false],
    ],
  ] as const) {
    itInNetlab(`hop by hop: ${nat}`, async () => {
      await withRules('r2', rules, async () => {
        const theirs = await byDublin();
        const own = ours(await lab!.trace(TARGET, { protocol: 'udp', maxHops: MAX_TTL }));

        expect(own).toEqual(path.map((ip, index) => ({ ip, isTranslated: translated[index] })));
        expect(theirs).toEqual(own);
      });
    });
  }
});
