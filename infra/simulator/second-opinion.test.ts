import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { afterAll, describe, expect } from '@jest/globals';

import { itNeeding } from '@vantage/test-support/needs';
import { netlabMissing } from '../netlab/netlab.ts';
import { caseOf, type Case } from './compile.ts';
import { createInternet } from './internet.ts';
import { router, routers, silent, type Scenario } from './scenario.ts';

const missing = netlabMissing();
const itInSimulator = itNeeding(missing, process.env['CI']);
const HOST = { 4: [3, 1], 6: [1, 3] } as const;

const scenarios: readonly Scenario[] = [
  { name: 'plain', path: routers(5) },
  { name: 'silent', path: [...routers(2), ...routers(5, silent), ...routers(2)] },
  { name: 'slow', path: routers(2), target: { delayMs: 400 } },
  { name: 'circle', path: [...routers(2), ...routers(2), { circle: 2 }] },
  { name: 'refused', path: [...routers(3), router({ refuse: HOST }), ...routers(2)] },
  { name: 'small', path: [...routers(2), router({ mtu: 1_400 }), router()] },
  { name: 'errfirst', path: [router(), router({ refuse: { ...HOST, packets: [1] } }), router()] },
  { name: 'doubled', path: routers(2), target: { duplicates: 1 } },
];
const families = [4, 6] as const;
const cases = families.flatMap((family, side) =>
  scenarios.map((scenario, index) => caseOf(scenario, side * scenarios.length + index, family, 'icmp')),
);
const folder = mkdtempSync(join(tmpdir(), 'vantage-simulator-'));
const internet = missing === null ? await createInternet(cases, 1, join(folder, 'packets.jsonl')) : undefined;
afterAll(() => {
  internet?.remove();
  rmSync(folder, { recursive: true, force: true });
});

function caseNamed(name: string, family: 4 | 6): Case {
  return cases.find((one) => one.family === family && one.scenario.name === name)!;
}

async function output(program: string, ...args: readonly string[]): Promise<string> {
  const child = internet!.start(0, program, ...args);
  child.stdin!.end();
  return text(child.stdout!);
}

/**
 * The output of ping, as soon as it matches: ping awaits the reply to its last packet for two round-trip times only,
 * and a busy machine may hold the simulator up for longer.
 */
async function pinged(wanted: RegExp, one: Case, count: number): Promise<string> {
  for (let left = 10; ; left -= 1) {
    const printed = await output('ping', '-n', '-c', String(count), '-i', '0.2', one.address);
    if (left === 0 || wanted.test(printed)) return printed;
  }
}

/** The hops as `traceroute` prints them: one address, `*`, or the address and a mark. */
async function hopsOf(one: Case, ...flags: readonly string[]): Promise<readonly string[]> {
  const printed = await output('traceroute', '-n', '-q', '1', '-w', '2', '-m', '12', ...flags, one.address);
  return [...printed.matchAll(/^ ?\d+ {2}(\S+)(?:.*ms (![A-Z]+))?/gm)].map(([, who, mark]) =>
    mark === undefined ? who! : `${who} ${mark}`,
  );
}

/** The first address of each hop in the scenario. */
function hopAddresses({ places, address }: Case, last: number): readonly string[] {
  const routers = Array.from(
    { length: last },
    (_, index) => places.find(({ hop }) => hop === index + 1)!.addresses[0]!,
  );
  return [...routers, address];
}

describe.each(families)('the simulator, as other programs see it, over IPv%i', (family) => {
  for (const flag of ['-I', '-U', '-T']) {
    itInSimulator(`traceroute ${flag} sees every router and the target`, async () => {
      const one = caseNamed('plain', family);

      expect(await hopsOf(one, flag)).toEqual(hopAddresses(one, 5));
    });
  }

  itInSimulator('traceroute goes on behind silent routers', async () => {
    const one = caseNamed('silent', family);
    const hops = hopAddresses(one, 9).map((address, index) => (index >= 2 && index < 7 ? '*' : address));

    expect(await hopsOf(one, '-I')).toEqual(hops);
  });

  itInSimulator('traceroute sees packets go round', async () => {
    const one = caseNamed('circle', family);
    const [first, second, a, b] = hopAddresses(one, 4);

    expect(await hopsOf(one, '-U')).toEqual([first, second, ...Array.from({ length: 5 }, () => [a!, b!]).flat()]);
  });

  itInSimulator('traceroute sees who refuses, and how', async () => {
    const one = caseNamed('refused', family);
    const [a, b, c, refusing] = hopAddresses(one, 4);

    expect(await hopsOf(one, '-U')).toEqual([a, b, c, `${refusing} !H`]);
  });

  itInSimulator('traceroute sees the MTU of the path', async () => {
    const { address } = caseNamed('small', family);

    expect(await output('traceroute', '-n', '-q', '1', '-m', '8', '--mtu', address)).toContain('F=1400');
  });

  itInSimulator('ping gets a reply to all packets but the one that is refused', async () => {
    const wanted = /4 packets transmitted, 3 received/;

    expect(await pinged(wanted, caseNamed('errfirst', family), 4)).toMatch(wanted);
  });

  itInSimulator('ping sees the delay, and no reply before it', async () => {
    const printed = await output('ping', '-n', '-c', '2', '-i', '0.2', caseNamed('slow', family).address);
    const [, shortest] = /min\/avg\/max\/mdev = ([\d.]+)\//.exec(printed) ?? [];

    expect(Number(shortest)).toBeGreaterThanOrEqual(800);
  });

  itInSimulator('ping sees what comes twice', async () => {
    const wanted = /\+[23] duplicates/;

    expect(await pinged(wanted, caseNamed('doubled', family), 3)).toMatch(wanted);
  });
});
