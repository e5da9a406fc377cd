import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { quantile, type Figure } from '../bench/goals.ts';
import { cpuMs } from '../bench/load/processes.ts';
import { startFuzzBed, type FuzzBed } from '../fuzz/bed.ts';

/**
 * Observations of another client while an attacker sent requests without reading an answer, and for as long
 * afterwards.
 */
export interface PipelineReport {
  readonly connections: number;
  /** Latency of `GET /healthz`, every 20 ms; a pending one counts with its age. */
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly refused: number;
  /** CPU time of the coordinator, the requests of the other client included. */
  readonly cpuMs: number;
}

/** Observations of `sendPipelines`. */
export interface PipelineReports {
  /** The report of an equally long time without an attack. */
  readonly quiet: PipelineReport;
  readonly attacked: readonly PipelineReport[];
  /** CPU time of the coordinator for one answer, milliseconds. */
  readonly answerMs: number;
}

/**
 * Goal: CPU time for requests whose answers are not read, in percent of what answering them takes in the same run. It
 * cannot be 0: Node makes an object of each request that one read of a connection holds.
 */
export const MOST_PERCENT = 10;
/** Requests that the attacker sends once on each connection: 60 KiB, which one read of a connection can hold. */
const PIPELINED = 1_575;
/** Answered requests that are counted for the cost of one, after as many others in which V8 compiles the code. */
const ANSWERED = 200;
const EVERY_MS = 20;
/** Time for which the attacker stays, and for which the client goes on afterwards. */
const STAYS_MS = 3_000;

const attacker = `const { connect } = require('node:net');
const [port, connections, staysMs] = process.argv.slice(1).map(Number);
const requests = 'GET /openapi.json HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'.repeat(${PIPELINED});
for (let index = 0; index < connections; index += 1)
  connect(port, '127.0.0.1', function () { this.pause().write(requests); }).on('error', () => undefined);
setTimeout(() => process.exit(), staysMs);`;

/**
 * Sends pipelined requests on each number of connections to one coordinator, and on none for the baseline.
 *
 * @param staysMs time for which each attacker stays
 */
export async function sendPipelines(counts: readonly number[], staysMs = STAYS_MS): Promise<PipelineReports> {
  const bed = await startFuzzBed();
  try {
    const answerMs = await measureAnswer(bed);
    const [quiet, attacked] = [await attack(bed, 0, staysMs), [] as PipelineReport[]];
    for (const connections of counts) attacked.push(await attack(bed, connections, staysMs));
    return { quiet, attacked, answerMs };
  } finally {
    await bed.stop();
  }
}

/** @returns the coordinator's CPU time for one answer to the attacker's request, milliseconds */
async function measureAnswer({ coordinator: { url, pid } }: FuzzBed): Promise<number> {
  // As the attacker: without a compression, which would cost this process much CPU time to undo.
  const agent = new Agent({ keepAlive: true });
  let startedMs = 0;
  for (let index = 0; index < 2 * ANSWERED; index += 1) {
    if (index === ANSWERED) startedMs = cpuMs(pid);
    await isAnswered(`${url}/openapi.json`, agent);
  }
  agent.destroy();
  return (cpuMs(pid) - startedMs) / ANSWERED;
}

/** CPU time that the attack cost, in percent of the time that answering all of its requests would take. */
export function percentOfAnswers(
  { quiet, answerMs }: PipelineReports,
  { connections, cpuMs: used }: PipelineReport,
): number {
  return (100 * (used - quiet.cpuMs)) / (connections * PIPELINED * answerMs);
}

async function attack(
  { coordinator: { url, port, pid } }: FuzzBed,
  connections: number,
  staysMs: number,
): Promise<PipelineReport> {
  await (await fetch(`${url}/openapi.json`)).arrayBuffer();
  const [startedMs, times, pending] = [cpuMs(pid), [] as number[], new Set<number>()];
  let refused = 0;
  const ask = async (): Promise<void> => {
    const sentAt = performance.now();
    pending.add(sentAt);
    const isServed = await isAnswered(`${url}/healthz`, false);
    if (!pending.delete(sentAt)) return;
    times.push(performance.now() - sentAt);
    if (!isServed) refused += 1;
  };
  const asking = setInterval(() => void ask(), EVERY_MS);
  const child = spawn(process.execPath, ['-e', attacker, String(port), String(connections), String(staysMs)]);
  await once(child, 'exit');
  await sleep(staysMs);
  // A coordinator that is still busy with these requests answers this one after them.
  await isAnswered(`${url}/healthz`, false);
  clearInterval(asking);
  const now = performance.now();
  times.push(...[...pending].map((sentAt) => now - sentAt));
  pending.clear();
  return {
    connections,
    p99Ms: quantile(times, 0.99),
    longestMs: Math.max(...times),
    refused,
    cpuMs: cpuMs(pid) - startedMs,
  };
}

/** @param agent false for a separate connection */
function isAnswered(url: string, agent: Agent | false): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { agent }, (answer) => answer.resume().once('close', () => resolve(answer.statusCode === 200))).once(
      'error',
      () => resolve(false),
    );
  });
}

/** Runs the attack, prints what another client observed, and compares that with the goals. */
export async function auditPipelines(print: (line: string) => void): Promise<readonly Figure[]> {
  const reports = await sendPipelines([2, 10, 40]);
  const { quiet, attacked, answerMs } = reports;
  print(
    'requests sent without reading an answer: what another client sees within three seconds of each and the three after',
  );
  for (const { connections, p99Ms, longestMs, refused, cpuMs: used } of [quiet, ...attacked]) {
    const times = `p99 ${p99Ms.toFixed(1)} ms, longest ${Math.round(longestMs)} ms, refused ${refused}`;
    print(`  ${`${connections} connections`.padEnd(16)}${times}, CPU of the coordinator ${Math.round(used)} ms`);
  }
  print('');
  return [
    {
      // Relative CPU time, because latencies depend on other programs of the machine, and CPU time on its kind.
      name: 'CPU time for requests sent without reading an answer, of what answering them takes',
      value: percentOfAnswers(reports, attacked.at(-1)!),
      unit: '%',
      atMost: MOST_PERCENT,
      comparison: `an answer takes ${answerMs.toFixed(2)} ms; longest request of another client ${Math.round(Math.max(...attacked.map(({ longestMs }) => longestMs)))} ms; without an attack: ${Math.round(quiet.longestMs)} ms`,
    },
    {
      name: 'requests of another client refused meanwhile',
      value: attacked.reduce((sum, { refused }) => sum + refused, 0),
      unit: 'requests',
      atMost: 0,
    },
  ];
}
