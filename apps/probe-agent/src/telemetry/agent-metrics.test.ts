import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { copyFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { PacketSocket, PacketSockets, ReceivedPacket } from '@vantage/diagnostics';
import { openMetrics } from '@vantage/telemetry';
import { describe, expect, it } from '@jest/globals';

import { typeLabel, watchAgent, type AgentMetrics, type MetricSources } from './agent-metrics.ts';
import { browserMemoryBytes } from './browser-memory.ts';
import { countPackets } from './count-packets.ts';
import { agentMetrics } from './declared.ts';
import { traceJobs } from './trace-jobs.ts';

const open = (): Promise<AgentMetrics> =>
  openMetrics(agentMetrics, (error) => {
    throw error;
  });

class Connection extends EventEmitter {
  status = 'ready';
}

describe('the metrics of an agent', () => {
  it('count a connection that comes back, and show one that is away', async () => {
    const metrics = await open();
    const [jobs, results] = [new Connection(), new Connection()];
    results.status = 'connecting';
    watchAgent(metrics, watched({ connections: { jobs, results } }));

    results.emit('ready');
    jobs.emit('ready');
    results.emit('ready');
    jobs.status = 'reconnecting';

    const lines = (await metrics.scrape()).split('\n');
    expect(lines).toContain('vantage_agent_redis_reconnects_total{connection="jobs"} 1');
    // The first connection does not count as a reconnect.
    expect(lines).toContain('vantage_agent_redis_reconnects_total{connection="results"} 1');
    expect(lines).toContain('vantage_agent_redis_up{connection="jobs"} 0');
  });

  it('show packet process and browser as they say', async () => {
    const metrics = await open();
    const screenshots = { running: 0, waiting: 1, taken: 3, failed: 2, noPage: 7, selfTest: null, namespace: true };
    watchAgent(
      metrics,
      watched({ packetProcess: () => ({ pid: null, crashes: 4, reason: 'x' }), screenshots: () => screenshots }),
    );

    const lines = (await metrics.scrape()).split('\n');

    for (const line of [
      'vantage_agent_packet_process_up 0',
      'vantage_agent_packet_process_crashes_total{process="packets"} 4',
      'vantage_agent_screenshots_total{outcome="taken"} 3',
      'vantage_agent_screenshots_total{outcome="failed"} 2',
      'vantage_agent_screenshots_total{outcome="no_page"} 7',
      'vantage_agent_screenshots_offered 1',
      'vantage_agent_jobs_capacity 20',
    ]) {
      expect(lines).toContain(line);
    }
  });

  it('count packets that are sent, refused and received', async () => {
    const metrics = await open();
    let deliver: (packet: ReceivedPacket) => void = () => undefined;
    const socket: PacketSocket = {
      identifier: 1,
      send: async (packet) => {
        if (packet.length === 0) throw new Error('EMSGSIZE');
        return 1;
      },
      onPacket: (listener) => (deliver = listener),
      onLost: () => undefined,
      close: () => undefined,
    };
    const sockets: PacketSockets = { open: async () => socket, sourceFor: async () => '192.0.2.1' };
    const seen: ReceivedPacket[] = [];

    const counted = await countPackets(sockets, metrics).open({ family: 4, protocol: 'udp' });
    counted.onPacket((packet) => seen.push(packet));
    await counted.send(new Uint8Array(1), '192.0.2.1', 1);
    await expect(counted.send(new Uint8Array(0), '192.0.2.1', 1)).rejects.toThrow('EMSGSIZE');
    deliver({
      protocol: 'icmp',
      data: new Uint8Array(),
      from: '192.0.2.1',
      hopLimit: 1,
      receivedMs: 1,
      clock: 'kernel',
    });

    const lines = (await metrics.scrape()).split('\n');
    expect(lines).toContain('vantage_agent_packets_sent_total{protocol="udp",family="4"} 1');
    expect(lines).toContain('vantage_agent_packets_refused_total{protocol="udp",family="4"} 1');
    expect(lines).toContain('vantage_agent_packets_received_total{protocol="icmp",family="4"} 1');
    expect(seen).toHaveLength(1);
  });

  it('have labels for the check types there are, and one for all else', () => {
    expect(['ping', 'http', 'of-tomorrow', '__proto__'].map(typeLabel)).toEqual(['ping', 'http', 'unknown', 'unknown']);
  });
});

describe('the memory of browsers', () => {
  it('is that of processes of that name below the agent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-browser-'));
    const browser = join(folder, 'chrome-trial');
    copyFileSync('/bin/sleep', browser);
    chmodSync(browser, 0o755);
    const children: ChildProcess[] = [spawn(browser, ['600']), spawn('/bin/sleep', ['600'])];
    await Promise.all(children.map((child) => once(child, 'spawn')));

    // The kernel reports the new process name with a delay.
    let bytes = 0;
    while ((bytes = await browserMemoryBytes(process.pid)) === 0) await sleep(5);

    expect(bytes).toBeLessThan(64 * 1024 * 1024);
    expect(await browserMemoryBytes(children[0]!.pid!)).toBe(0);
    for (const child of children) child.kill();
    rmSync(folder, { recursive: true });
  });
});

describe('the traces of jobs', () => {
  it('leave a job alone that is not traced, whatever it carries in place of a trace', async () => {
    const traces = traceJobs({
      start: () => {
        throw new Error('not asked');
      },
      around: () => {
        throw new Error('not asked');
      },
      traceparent: () => undefined,
      close: async () => undefined,
    });
    let runs = 0;

    for (const data of [{}, undefined, 'text', { traceparent: 7 }, { traceparent: '00-0-0-00' }]) {
      await traces.around({ id: 'a', name: 'tcp', data, timestamp: 0 }, async () => void (runs += 1));
    }

    expect(runs).toBe(5);
    expect(traces.traceparentOf('a')).toBeUndefined();
  });
});

function watched(more: Partial<MetricSources>): MetricSources {
  const connections = { jobs: new Connection(), results: new Connection() };
  return { connections, rttMs: () => 1, running: () => 0, capacity: 20, ...more };
}
