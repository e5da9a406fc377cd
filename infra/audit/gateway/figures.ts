import type { Figure } from '../../bench/goals.ts';
import { attackGateway, MOST_VERIFIED, type GatewayReport } from './index.ts';

/** Screenshots that are being received may take 64 MiB; the rest is for garbage that Node has not collected yet. */
const MOST_GROWN_MIB = 256;

/** Attacks the gateway, prints what other clients observed, and compares that with the goals. */
export async function auditGateway(seconds: number, print: (line: string) => void): Promise<readonly Figure[]> {
  const [quiet, ...attacked] = await attackGateway(seconds);
  print('attacks on the gateway: what a client of the API and another agent see meanwhile');
  for (const { name, http, agent, refused, verified, grownMiB } of [quiet!, ...attacked]) {
    const times = [http, agent].map(({ p99Ms, longestMs }) => `${p99Ms.toFixed(1)} (${Math.round(longestMs)})`);
    const signatures = verified === undefined ? '' : `, verified ${verified}`;
    print(
      `  ${name.padEnd(50)}p99 (longest) of the client ${times[0]} ms, of the agent ${times[1]} ms, refused ${refused}, ` +
        `memory +${Math.round(grownMiB)} MiB${signatures}`,
    );
  }
  print('');
  const worst = (of: (row: GatewayReport) => number): number => Math.max(...attacked.map(of));
  const without = (ms: number): string => `without an attack: ${ms.toFixed(1)} ms`;
  return [
    {
      name: 'latency of clients of the API under an attack on the gateway, p99 of the worst',
      unit: 'ms',
      atMost: 50,
      value: worst(({ http }) => http.p99Ms),
      comparison: without(quiet!.http.p99Ms),
    },
    {
      name: 'latency of other agents under an attack on the gateway, p99 of the worst',
      unit: 'ms',
      atMost: 50,
      value: worst(({ agent }) => agent.p99Ms),
      comparison: without(quiet!.agent.p99Ms),
    },
    {
      name: 'requests and agents refused under an attack on the gateway',
      value: attacked.reduce((sum, { refused }) => sum + refused, 0),
      unit: 'requests',
      atMost: 0,
    },
    {
      name: 'signatures verified for one address',
      value: worst(({ verified }) => verified ?? 0),
      unit: 'signatures',
      atMost: MOST_VERIFIED,
    },
    {
      name: 'memory that an attack on the gateway takes, the worst',
      value: worst(({ grownMiB }) => grownMiB),
      unit: 'MiB',
      atMost: MOST_GROWN_MIB,
    },
  ];
}
