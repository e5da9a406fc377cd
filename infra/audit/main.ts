/**
 * `npm run -s audit:security -- [--only PARTS] [--seed S] [--seconds S] [--json FILE]`: attacks the API, an agent's
 * checks of its jobs, API keys, the Redis login of an agent, and the gateway. Packets go only to loopback and into
 * network namespaces, which need root.
 */
import { report, type Figure } from '../bench/goals.ts';
import { bundlePrograms } from '../command/bundle-programs.ts';
import { endWithChildren } from '../command/end-with-children.ts';
import { openProgress } from '../command/progress.ts';
import { flagsOfProcess } from '../command/read-flags.ts';
import type { tryHostileInputs } from './api-audit.ts';
import type { CanaryTransport } from './canaries/index.ts';

interface Row {
  readonly part: string;
  readonly inputs: number;
  readonly accepted: readonly string[];
  /** Packets that reached a canary; undefined if no canary listened. */
  readonly touches: readonly string[] | undefined;
  readonly serverErrors: number;
  readonly faults: readonly string[];
  readonly longestMs: number;
}

const FUZZ_REQUESTS = 10_000;
const KEY_GUESSES = 20_000;

const PARTS = ['api', 'pipelines', 'keys', 'login', 'gateway'];

const values = flagsOfProcess('npm run -s audit:security --', 'Tries what the service promises to withstand.', {
  only: { description: `Only these parts, separated by commas: ${PARTS.join(', ')}.`, fallback: PARTS.join(',') },
  seed: { description: 'Repeats a run.', fallback: '1', isNumber: true },
  seconds: { description: 'Length of each attack of `login` and `gateway`.', fallback: '10', isNumber: true },
  json: { description: 'File for the figures.' },
});
const chosen = new Set(values.only.split(','));
const unknown = [...chosen].find((part) => !PARTS.includes(part));
if (unknown !== undefined) {
  process.stderr.write(`unknown part "${unknown}"; expected one of ${PARTS.join(', ')}\n`);
  process.exit(2);
}
const seconds = Number(values.seconds);
endWithChildren();
bundlePrograms();

const progress = openProgress('audit');
const { print } = progress;
// Each audit imports its modules only when it runs.
const audits = {
  api: auditApi,
  pipelines: async () => (await import('./pipelined-requests.ts')).auditPipelines(print),
  keys: auditKeys,
  login: auditLogin,
  gateway: async () => (await import('./gateway/figures.ts')).auditGateway(seconds, print),
};
const figures: Figure[] = [];
for (const [part, audit] of Object.entries(audits)) {
  if (!chosen.has(part)) continue;
  progress.step(part);
  figures.push(...(await audit()));
}
progress.stop();
process.exitCode = report(figures, values.json);

async function auditApi(): Promise<readonly Figure[]> {
  const { tryFuzz, tryHostileInputs } = await import('./api-audit.ts');
  const { networkMissing } = await import('./canaries/index.ts');
  const missing = networkMissing();
  const rows: readonly Row[] = [
    fromApi('hostile targets, ports and options, to the coordinator', await tryHostileInputs()),
    fromApi('requests made from the OpenAPI document', await tryFuzz(Number(values.seed), FUZZ_REQUESTS)),
    ...(missing === null ? await eachTransport() : []),
  ];
  if (missing !== null) print(`skipped: the canaries of the agent: ${missing}`);
  printRows(rows);
  const all = (of: (row: Row) => readonly string[]): number => rows.flatMap(of).length;
  const touches = all((row) => row.touches ?? []);
  return [
    { name: 'inputs tried', value: rows.reduce((sum, row) => sum + row.inputs, 0), unit: 'inputs' },
    { name: 'wrongly accepted', value: all(({ accepted }) => accepted), unit: 'inputs', atMost: 0 },
    ...(missing === null ? [{ name: 'canary touches', value: touches, unit: 'places', atMost: 0 }] : []),
    { name: '5xx', value: rows.reduce((sum, row) => sum + row.serverErrors, 0), unit: 'answers', atMost: 0 },
    { name: 'other faults', value: all(({ faults }) => faults), unit: 'faults', atMost: 0 },
    {
      name: 'longest answer',
      value: Math.max(...rows.slice(0, 2).map(({ longestMs }) => longestMs)),
      unit: 'ms',
      atMost: 5_000,
    },
  ];
}

function printRows(rows: readonly Row[]): void {
  const widths = [56, 8, 17, 15, 5, 7, 14];
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!))).join('');
  print(line(['part', 'inputs', 'wrongly accepted', 'canary touches', '5xx', 'faults', 'longest answer']));
  for (const { part, inputs, accepted, touches, serverErrors, faults, longestMs } of rows) {
    const counts = [inputs, accepted.length, touches?.length ?? '–', serverErrors, faults.length].map(String);
    print(line([part, ...counts, `${Math.round(longestMs)} ms`]));
  }
  print('');
  for (const { accepted, touches = [], faults } of rows) {
    for (const text of [...accepted, ...touches, ...faults].slice(0, 20)) print(`! ${text}`);
  }
}

async function auditKeys(): Promise<readonly Figure[]> {
  const { guessKeys, mostLookedUp } = await import('./key-audit.ts');
  const guessingSince = performance.now();
  const keys = await guessKeys(KEY_GUESSES);
  const mostKeys = mostLookedUp((performance.now() - guessingSince) / 60_000);
  print(
    `API keys guessed from one address: ${keys.guesses}, looked up ${keys.lookedUp} (at most ${mostKeys}), accepted ${keys.accepted}`,
  );
  for (const text of keys.disclosures.slice(0, 20)) print(`! ${text.slice(0, 300)}`);
  print('');
  return [
    { name: 'guessed API keys accepted', value: keys.accepted, unit: 'keys', atMost: 0 },
    { name: 'guessed API keys looked up', value: keys.lookedUp, unit: 'keys', atMost: mostKeys },
    { name: 'requests with the right key refused meanwhile', value: keys.rightRefused, unit: 'requests', atMost: 0 },
    { name: 'log lines and answers with a secret of a key', value: keys.disclosures.length, unit: 'lines', atMost: 0 },
    { name: '5xx while keys are guessed', value: keys.serverErrors, unit: 'answers', atMost: 0 },
  ];
}

async function auditLogin(): Promise<readonly Figure[]> {
  const { tryStolenLogin } = await import('./stolen-login/index.ts');
  const [quiet, ...attacked] = await tryStolenLogin(seconds);
  print('a stolen agent’s login: what another client of Redis sees meanwhile');
  for (const { name, p99Ms, longestMs, busyP99Ms, endedAfterMs, refused, firstRefusal } of [quiet!, ...attacked]) {
    const ended = endedAfterMs === null ? '' : `, ended after ${(endedAfterMs / 1_000).toFixed(1)} s`;
    const times = `p99 ${p99Ms.toFixed(1)} ms (Redis at work: ${busyP99Ms.toFixed(1)}), longest ${Math.round(longestMs)} ms${ended}`;
    print(`  ${name.padEnd(42)}${times}, refused ${refused}${firstRefusal === null ? '' : ` (${firstRefusal})`}`);
  }
  print('');
  const [excesses, others] = [
    attacked.filter(({ isExcess }) => isExcess),
    attacked.filter(({ isExcess }) => !isExcess),
  ];
  const worst = (reports: typeof attacked): number => Math.max(0, ...reports.map(({ p99Ms }) => p99Ms));
  const busy = Math.max(0, ...others.map(({ busyP99Ms }) => busyP99Ms));
  return [
    {
      name: 'latency of other clients of Redis under an attack that may go on, p99 of the worst',
      value: worst(others),
      unit: 'ms',
      atMost: 50,
      comparison: `${busy.toFixed(1)} ms of it Redis at work; without an attack: ${quiet!.p99Ms.toFixed(1)} ms`,
    },
    {
      name: 'latency of other clients of Redis until a larger attack is ended, p99 of the worst',
      value: worst(excesses),
      unit: 'ms',
      atMost: 500,
    },
    {
      name: 'longest time until a larger attack is ended',
      value: Math.max(0, ...excesses.map(({ endedAfterMs }) => endedAfterMs ?? Infinity)) / 1_000,
      unit: 's',
      atMost: 15,
    },
    {
      name: 'writes of other clients refused under a stolen login',
      value: attacked.reduce((sum, { refused }) => sum + refused, 0),
      unit: 'writes',
      atMost: 0,
    },
  ];
}

function fromApi(
  part: string,
  { wronglyAccepted: accepted, ...seen }: Awaited<ReturnType<typeof tryHostileInputs>>,
): Row {
  return { part, accepted, touches: undefined, ...seen };
}

async function eachTransport(): Promise<readonly Row[]> {
  const { transports } = await import('./canaries/index.ts');
  const rows: Row[] = [];
  for (const transport of transports) rows.push(await tryCanaries(transport));
  return rows;
}

async function tryCanaries(transport: CanaryTransport): Promise<Row> {
  const { runCanaryAudit } = await import('./canaries/index.ts');
  const { jobs, wronglyAccepted, unanswered, touches, longestMs } = await runCanaryAudit({ transport });
  return {
    part: `jobs by ${transport}, without a coordinator’s checks`,
    inputs: jobs,
    accepted: wronglyAccepted,
    touches: touches.map(
      ({ protocol, address, port, packets }) => `${packets} × ${protocol} to ${address} port ${port}`,
    ),
    serverErrors: 0,
    faults: unanswered,
    longestMs,
  };
}
