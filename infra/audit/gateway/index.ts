import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { encodeMessage } from '@vantage/agent-loop';
import { probeOfToken } from '@vantage/contract';

import { createAgentKey, ORIGIN } from '../../../apps/coordinator/test/agent-key.ts';
import { residentMiB } from '../../chaos/processes.ts';
import { PROBES, startFuzzBed, type FuzzBed } from '../../fuzz/bed.ts';
import { inviteProbe } from '../../trial-probes.ts';
import type { GatewayAttack } from './attack.ts';
import { gatewayAttacks, VICTIM } from './attacks.ts';
import { admit } from './connect.ts';
import { createStopwatch, type Latencies } from './stopwatch.ts';

/** Observations of other clients of a coordinator while its gateway was attacked. */
export interface GatewayReport {
  readonly name: string;
  /** Latencies of `GET /probes` and of an agent's time requests, each every 20 ms; pending ones count by their age. */
  readonly http: Latencies;
  readonly agent: Latencies;
  /** Requests of other clients without a 200, and lost connections of their agent. */
  readonly refused: number;
  /** Signatures that the coordinator verified meanwhile; undefined unless the attack states a single address. */
  readonly verified: number | undefined;
  /** Resident memory of the coordinator at its largest, minus that before. */
  readonly grownMiB: number;
}

/** Most signatures verified for one address: 30 failures in each of two minutes, and 64 concurrent handshakes. */
export const MOST_VERIFIED = 2 * 30 + 64;
const EVERY_MS = 20;
const CHECK_EVERY_MS = 20;
const POLL_INTERVAL_MS = 200;
/** Maximum number of polls until a first signature is verified. */
const MOST_POLLS = 300;
const SETTLES_MS = 1_000;

/** Runs each attack for this many seconds against one coordinator; the first report is that without an attack. */
export async function attackGateway(
  seconds: number,
  chosen: readonly GatewayAttack[] = gatewayAttacks,
): Promise<readonly GatewayReport[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-audit-gateway-'));
  const verifications = join(folder, 'verifications');
  writeFileSync(verifications, '');
  const preload = new URL('count-verifications.ts', import.meta.url).href;
  const bed = await startFuzzBed({
    PUBLIC_URL: ORIGIN,
    TRUSTED_PROXIES: '1',
    VERIFICATIONS_FILE: verifications,
    NODE_OPTIONS: `--import=${preload}`,
  });
  try {
    const url = `ws://127.0.0.1:${bed.coordinator.port}/agent`;
    await warmUp(bed);
    const others = await watchOthers(bed, url);
    const reports = [await watch(undefined, 0)];
    for (const [index, attack] of chosen.entries()) {
      const tokens = await inviteAll(bed, `thief-${index}`, attack.agents ?? 1);
      const verifiedBefore = statSync(verifications).size;
      const attacker = await startAttacker(attack, [url, `198.51.100.${index}`, ...tokens]);
      const stopChecks =
        attack.getsJobs === true ? startChecks(bed.coordinator.url, probeOfToken(tokens[0]!)!) : undefined;
      reports.push(await watch(attack, verifiedBefore));
      stopChecks?.();
      attacker.kill('SIGKILL');
      await sleep(SETTLES_MS);
    }
    others.stop();
    return reports;

    async function watch(attack: GatewayAttack | undefined, verifiedBefore: number): Promise<GatewayReport> {
      others.read();
      const before = residentMiB(bed.coordinator.pid);
      let most = before;
      const verifiedSince = (): number => statSync(verifications).size - verifiedBefore;
      // On a busy machine the first signature may be verified only after these seconds.
      const isEarly = (polls: number): boolean =>
        attack?.isOneAddress === true && verifiedSince() === 0 && polls < MOST_POLLS;
      for (let poll = 0; poll < (seconds * 1_000) / POLL_INTERVAL_MS || isEarly(poll); poll += 1) {
        await sleep(POLL_INTERVAL_MS);
        most = Math.max(most, residentMiB(bed.coordinator.pid));
      }
      const verified = verifiedSince();
      return {
        name: attack?.name ?? 'no attack',
        ...others.read(),
        grownMiB: most - before,
        verified: attack?.isOneAddress === true ? verified : undefined,
      };
    }
  } finally {
    await bed.stop();
    rmSync(folder, { recursive: true });
  }
}

async function inviteAll({ redisUrl }: FuzzBed, name: string, count: number): Promise<readonly string[]> {
  const tokens: string[] = [];
  while (tokens.length < count) tokens.push(await inviteProbe(redisUrl, `${name}-${tokens.length}`, ORIGIN));
  return tokens;
}

async function startAttacker(attack: GatewayAttack, args: readonly string[]): Promise<ReturnType<typeof fork>> {
  const index = String(gatewayAttacks.indexOf(attack));
  const child = fork(new URL('attacker-process.ts', import.meta.url), [index, ...args], {
    execArgv: ['--conditions=vantage-source', '--no-warnings'],
  });
  await once(child, 'message');
  return child;
}

/** The first result of a type compiles its validator, which must not be measured as an effect of an attack. */
async function warmUp({ coordinator, report }: FuzzBed): Promise<void> {
  const checkId = await postCheck(coordinator.url, PROBES[0]);
  await report(PROBES[0], checkId, '{}');
  await (await fetch(`${coordinator.url}/check/${checkId}/results?wait=1`)).arrayBuffer();
}

/** Starts a check every 20 ms until the returned function is called; those beyond the probe's capacity are refused. */
function startChecks(url: string, probe: string): () => void {
  const timer = setInterval(() => void postCheck(url, probe).catch(() => undefined), CHECK_EVERY_MS);
  return () => clearInterval(timer);
}

async function postCheck(url: string, probe: string): Promise<string> {
  const body = JSON.stringify({ type: 'tcp', host: 'example.com', port: 443, probes: [probe] });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/check`, { method: 'POST', body, headers });
  return ((await answer.json()) as { readonly checkId: string }).checkId;
}

interface Others {
  /** Observations since the last call. */
  readonly read: () => Omit<GatewayReport, 'name' | 'verified' | 'grownMiB'>;
  readonly stop: () => void;
}

/** Observes the coordinator as a client of the API and as an honest agent at the gateway. */
async function watchOthers(bed: FuzzBed, url: string): Promise<Others> {
  const [http, agent] = [createStopwatch(), createStopwatch()];
  let refused = 0;
  const token = await inviteProbe(bed.redisUrl, VICTIM, ORIGIN);
  const { socket } = await admit(url, createAgentKey(VICTIM), token, (message) => {
    if (message.t === 'time') agent.end(message.id);
  });
  socket.on('close', () => (refused += 1));
  let number = 0;
  const timer = setInterval(() => {
    const id = (number += 1);
    agent.begin(id);
    socket.send(encodeMessage({ t: 'time', id }));
    http.begin(id);
    void fetch(`${bed.coordinator.url}/probes`)
      .then(async (answer) => {
        await answer.arrayBuffer();
        if (answer.status !== 200) refused += 1;
      })
      .catch(() => (refused += 1))
      .finally(() => http.end(id));
  }, EVERY_MS);
  return {
    read: () => {
      const seen = { http: http.read(), agent: agent.read(), refused };
      refused = 0;
      return seen;
    },
    stop: () => {
      clearInterval(timer);
      socket.terminate();
    },
  };
}
