import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from '@vantage/client';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';

import { here, openBrowser, openTab } from '../../web/test/browser.ts';
import { itInBrowser } from '../../web/test/it-in-browser.ts';
import { startService, temporaryFolder, type Service } from '../test/service.ts';

const ROUNDS = 40;
/** Longer than any pause between two packets of a check, on a busy machine too. */
const QUIET_MS = 6_000;
const CLI = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url));

describe('clients that go away end what they asked for', () => {
  const data = temporaryFolder();
  let service: Service;
  let capture: ChildProcess;
  let captured = '';

  beforeAll(async () => {
    service = await startService(`${data.folder}/data`, ['--allow', '127.0.0.0/8', '--rate-limit', '100000']);
    const { program, environment } = await unpackPackages('tcpdump');
    const words = ['-n', '-l', '--immediate-mode', '-Z', 'root', '-i', 'lo', 'icmp and dst net 127.9.8.0/24'];
    capture = spawn(program('tcpdump'), words, { env: { ...process.env, ...environment } });
    const listens = once(capture.stderr!, 'data');
    capture.stdout!.on('data', (text: Buffer) => (captured += text.toString()));
    await listens;
  });

  afterAll(async () => {
    capture?.kill();
    await service?.stop();
    data.remove();
  });

  const requestsTo = (host: string): number =>
    captured.split('\n').filter((line) => line.includes(`> ${host}: ICMP echo request`)).length;

  /**
   * Waits for several packets: on a busy machine a client opens its stream only after the first ones, and without a
   * stream the service does not notice that the client has ended.
   */
  async function untilMeasured(host: string, packets = 3): Promise<void> {
    while (requestsTo(host) < packets) await sleep(100);
  }

  /** Waits until no packet was sent for `QUIET_MS`; returns the number of packets. */
  async function packetsUntilEnd(host: string): Promise<number> {
    let sent = -1;
    for (let quietAt = 0; performance.now() < quietAt + QUIET_MS; await sleep(200)) {
      if (sent !== requestsTo(host)) [sent, quietAt] = [requestsTo(host), performance.now()];
    }
    return sent;
  }

  describe('vantage, by Ctrl-C', () => {
    const programs: readonly (readonly [of: string, words: readonly string[], host: string, packets: number])[] = [
      ['traceroute --json', ['traceroute', '127.9.8.1', '--rounds', String(ROUNDS), '--json'], '127.9.8.1', ROUNDS],
      ['traceroute --csv', ['traceroute', '127.9.8.2', '--rounds', String(ROUNDS), '--csv'], '127.9.8.2', ROUNDS],
      ['mtr --watch', ['mtr', '127.9.8.3', '--rounds', String(ROUNDS), '--watch', '60'], '127.9.8.3', ROUNDS],
      ['mtr', ['mtr', '127.9.8.4', '--rounds', String(ROUNDS)], '127.9.8.4', ROUNDS],
      ['ping', ['ping', '127.9.8.5', '--count', '16', '--interval', '1000'], '127.9.8.5', 16],
    ];
    /** Packets that were sent to each host. */
    const sent = new Map<string, Promise<number>>();

    // Runs all at once: each program has its own host, and most of the time passes between packets.
    beforeAll(() => {
      for (const [, words, host, packets] of programs) {
        const counted = packetsOf(words, host, packets);
        // The test that awaits this reports the failure.
        counted.catch(() => undefined);
        sent.set(host, counted);
      }
    });

    async function packetsOf(words: readonly string[], host: string, packets: number): Promise<number> {
      const flags = ['--conditions=vantage-source', CLI, ...words, '--limit', '1', '--server', service.url];
      const program = spawn(process.execPath, flags, { stdio: 'ignore' });
      await untilMeasured(host, Math.floor(packets / 4));
      program.kill('SIGINT');
      await once(program, 'exit');
      return packetsUntilEnd(host);
    }

    it.each(programs)('%s', async (_of, _words, host, packets) => {
      expect(await sent.get(host)).toBeLessThan(packets);
    });
  });

  describe('the page', () => {
    const ways = [
      ['by closing its tab', '127.9.8.6'],
      ['by another page of the service', '127.9.8.7'],
      ['by another page', '127.9.8.8'],
    ] as const;
    let browser: Awaited<ReturnType<typeof openBrowser>> | undefined;
    /** Packets and ends of the checks after each way to leave the page. */
    const left = new Map<string, Promise<Left>>();

    // Starts all checks together: each has its own host, and most of the time passes between packets.
    beforeAll(async () => {
      if (here.missing !== null) return;
      browser = await openBrowser();
      for (const [way, host] of ways) {
        const ended = leave(way, host);
        ended.catch(() => undefined);
        left.set(way, ended);
      }
    });

    afterAll(async () => {
      await browser?.close();
    });

    interface Left {
      readonly packets: number;
      readonly ends: readonly unknown[];
    }

    async function leave(way: (typeof ways)[number][0], host: string): Promise<Left> {
      const tab = await openTab(browser!, service.url);
      await tab.page.goto(`${service.url}/?type=traceroute&host=${host}&options.rounds=${ROUNDS}`);
      await tab.page.waitForFunction(`document.body.innerText.includes('measured from 3 probes')`);
      await tab.page.focus('#host');
      await tab.page.keyboard.press('Enter');
      await untilMeasured(host);
      await tab.page.waitForFunction(`location.pathname.startsWith('/c/')`);
      await tab.page.waitForFunction(`document.body.innerText.includes('Round 2')`);
      const id = new URL(tab.page.url()).pathname.split('/').at(-1)!;
      if (way === 'by closing its tab') await tab.page.close();
      else if (way === 'by another page') await tab.page.goto('about:blank');
      else await tab.page.click('a[href="/status"]');
      const packets = await packetsUntilEnd(host);
      const { results } = await createClient({ baseUrl: service.url, fetch: fetchAccepted }).results(id, {
        waitSeconds: 25,
      });
      await tab.close();
      return { packets, ends: Object.values(results).map((result) => 'roundsEnded' in result && result.roundsEnded) };
    }

    for (const [way] of ways) {
      itInBrowser(way, async () => {
        const { packets, ends } = (await left.get(way))!;
        expect(packets).toBeLessThan(3 * ROUNDS);
        expect(ends).toEqual(Array(3).fill('stream_closed'));
      });
    }
  });
});
