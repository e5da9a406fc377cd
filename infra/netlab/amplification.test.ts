import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { AnyCheckType, ParamsOf } from '../../packages/contract/src/index.ts';
import { checkTypes, type CheckTypeName } from '../../packages/diagnostics/src/contract.ts';
import { startLabChecks, type LabChecks } from './services-lab-runner.ts';
import { createServicesLab, labFamilies, type ServicesLab } from './services-lab.ts';

const isRoot = process.getuid?.() === 0 && spawnSync('/usr/sbin/ip', ['netns', 'list']).status === 0;
const describeInLab = isRoot ? describe : describe.skip;

const [{ target }] = labFamilies;
const http = { method: 'GET', headers: {}, followRedirects: 0, httpVersion: '1.1', screenshot: false };
const MEBIBYTE = 1024 * 1024;
/** Traffic of neighbour discovery on the link. */
const LINK = { packets: 8, bytes: 1_024 };

interface Row {
  readonly name: string;
  readonly type: CheckTypeName;
  readonly host?: string;
  readonly fields?: object;
  readonly options: object;
}

/** The check types that send packets to a target, with their defaults and with the options that make it send most. */
const rows: readonly Row[] = [
  { name: 'http', type: 'http', options: http },
  { name: 'http, HTTP/2', type: 'http', host: `http://${target}:81/`, options: { ...http, httpVersion: '2' } },
  { name: 'http, 1 MiB', type: 'http', options: { ...http, maxBodyBytes: MEBIBYTE } },
  {
    name: 'http, HTTP/2, 1 MiB',
    type: 'http',
    host: `http://${target}:81/`,
    options: { ...http, httpVersion: '2', maxBodyBytes: MEBIBYTE },
  },
  {
    name: 'http, 10 redirects',
    type: 'http',
    host: `http://${target}/redirect/10`,
    options: { ...http, followRedirects: 10 },
  },
  {
    name: 'http, HTTP/2, 10 redirects, 1 MiB',
    type: 'http',
    host: `http://${target}:81/redirect/10`,
    options: { ...http, httpVersion: '2', followRedirects: 10, maxBodyBytes: MEBIBYTE },
  },
  ...['head', 'interim', 'extensions', 'chunks', 'trailers'].flatMap((word) =>
    [undefined, MEBIBYTE].map((maxBodyBytes): Row => ({
      name: `http, ${word} without end${maxBodyBytes === undefined ? '' : ', 1 MiB'}`,
      type: 'http',
      host: `http://${target}:90/${word}`,
      options: { ...http, ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }) },
    })),
  ),
  {
    name: 'http, 10 redirects with the largest heads',
    type: 'http',
    host: `http://${target}:90/redirect/10`,
    options: { ...http, followRedirects: 10 },
  },
  ...['pings', 'empty frames of DATA', 'CONTINUATION', 'pings, and turned away'].flatMap((what, index) =>
    [undefined, MEBIBYTE].map((maxBodyBytes): Row => ({
      name: `http, HTTP/2, ${what} without end${maxBodyBytes === undefined ? '' : ', 1 MiB'}`,
      type: 'http',
      host: `http://${target}:${91 + index}/`,
      options: { ...http, httpVersion: '2', ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }) },
    })),
  ),
  { name: 'ping', type: 'ping', options: { count: 4, interval: 200, size: 56 } },
  { name: 'ping, 16 × 1472', type: 'ping', options: { count: 16, interval: 200, size: 1472 } },
  { name: 'tcp', type: 'tcp', fields: { port: 80 }, options: { attempts: 3 } },
  { name: 'udp, 3 × 512', type: 'udp', fields: { port: 9 }, options: { attempts: 3, payload: '00'.repeat(512) } },
  {
    name: 'dns',
    type: 'dns',
    host: 'example.com',
    fields: { recordType: 'A' },
    options: {
      resolver: target,
      transport: 'udp',
      dnssecOk: true,
      checkingDisabled: false,
      recursionDesired: true,
      nsid: false,
      trace: false,
    },
  },
  { name: 'traceroute', type: 'traceroute', options: { protocol: 'icmp', maxHops: 30, queries: 3, flows: 1 } },
  {
    name: 'traceroute, 5 rounds',
    type: 'traceroute',
    options: { protocol: 'icmp', maxHops: 30, queries: 3, flows: 1, rounds: 5 },
  },
  ...['icmp', 'udp', 'tcp'].map((protocol): Row => {
    const options = { protocol, maxHops: 4, queries: 10, flows: 16 };
    return { name: `traceroute, ${protocol}, 640 packets`, type: 'traceroute', options };
  }),
];

/** Traffic on the link of the target. */
interface Counted {
  readonly toTarget: { readonly packets: number; readonly bytes: number };
  readonly fromTarget: { readonly packets: number; readonly bytes: number };
}

describeInLab('the traffic of a check (skipped without root and network namespaces)', () => {
  let lab: ServicesLab;
  let checks: LabChecks;
  const servers: ReturnType<ServicesLab['start']>[] = [];

  beforeAll(async () => {
    lab = createServicesLab();
    // Individual segments: by default the kernel combines dozens of them into one packet.
    for (const [node, device] of [
      ['probe', 'link1a'] as const,
      ['router', 'link1b'] as const,
      ['router', 'link2a'] as const,
      ['target', 'link2b'] as const,
    ]) {
      await lab.run(node, '/usr/sbin/ip', 'link', 'set', 'dev', device, 'gso_max_segs', '1');
    }
    for (const file of [new URL('endless-target.ts', import.meta.url), new URL('hostile-target.ts', import.meta.url)]) {
      const server = lab.start('target', process.execPath, '--conditions=vantage-source', fileURLToPath(file));
      servers.push(server);
      await once(server.stdout!, 'data');
    }
    checks = startLabChecks(lab);
  });

  afterAll(async () => {
    await checks.stop();
    for (const server of servers) server.kill();
    lab.remove();
  });

  const countLink = async (): Promise<Counted> => {
    const json = await lab.run('target', '/usr/sbin/ip', '-s', '-j', 'link', 'show', 'link2b');
    const [{ stats64 }] = JSON.parse(json) as [{ stats64: { rx: Counted['toTarget']; tx: Counted['toTarget'] } }];
    return { toTarget: stats64.rx, fromTarget: stats64.tx };
  };

  /**
   * Connections on which the target may still send: those that are neither closed nor only waiting for late packets.
   */
  const openConnections = (): Promise<string> =>
    lab.run('target', '/usr/bin/ss', '-Htn', 'state', 'connected', 'exclude', 'time-wait', 'exclude', 'fin-wait-2');

  /**
   * Reads the counters once the connections have ended and nothing is sent: a server that was not scheduled in time
   * still sends after the check.
   */
  const countSettled = async (): Promise<Counted> => {
    let last = await countLink();
    for (;;) {
      const isQuiet = (await openConnections()) === '';
      const next = await countLink();
      const isConstant =
        next.fromTarget.packets === last.fromTarget.packets && next.toTarget.packets === last.toTarget.packets;
      if (isQuiet && isConstant) return next;
      process.stderr.write(`wait ${isConstant} ${isQuiet ? '' : await openConnections()}\n`);
      last = next;
    }
  };

  it.each(rows)('is not more than every limit counts for it: $name', async ({ name, type, host, fields, options }) => {
    const checkType: AnyCheckType = checkTypes[type];
    const order = { type, host: host ?? (type === 'http' ? `http://${target}/` : target), fields, options };
    const allowed = checkType.traffic({ host: order.host, ...fields, options } as ParamsOf<AnyCheckType>);

    const before = await countSettled();
    await checks.run(order);
    const after = await countSettled();

    const packets = after.toTarget.packets - before.toTarget.packets;
    const toTarget = after.toTarget.bytes - before.toTarget.bytes;
    const fromTarget = after.fromTarget.bytes - before.fromTarget.bytes;
    if (process.env['AMPLIFICATION_TABLE'] !== undefined) {
      const answers = after.fromTarget.packets - before.fromTarget.packets;
      process.stderr.write(
        `| ${name} | ${packets} | ${toTarget} | ${answers} | ${fromTarget} | ${JSON.stringify(allowed)} |\n`,
      );
    }
    expect(packets).toBeGreaterThan(0);
    expect(toTarget + fromTarget).toBeLessThanOrEqual(allowed.bytes + LINK.bytes);
    // At most one acknowledgement per segment: those are proportional to the bytes.
    const acknowledgements = type === 'http' ? Math.ceil(fromTarget / 1_448) : 0;
    expect(packets).toBeLessThanOrEqual(allowed.packets + acknowledgements + LINK.packets);
  });
});
