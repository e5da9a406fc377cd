import { error, ok, sizeOf, warning, type DoctorFinding } from '../finding.ts';
import { numberOf, type RedisFacts } from './redis-facts.ts';

/** Used share of `maxmemory` from which the finding is an error. */
const FULL_AT = 0.95;
/**
 * Used share of `maxmemory`, share of it that the settings allow for results and screenshots, or its share of the memory
 * of the machine above which there is a warning.
 */
const NEARLY_FULL_AT = 0.8;

/**
 * Bytes that results and screenshots may take by the coordinator's settings, summed over all servers. `resultsBytes` is
 * undefined without a setting: results may then take half of `maxmemory`.
 */
export interface MemoryBudget {
  readonly resultsBytes: number | undefined;
  readonly screenshotsBytes: number;
}

/** @param servers masters that share the data */
export function checkMemory(
  facts: RedisFacts,
  { resultsBytes, screenshotsBytes }: MemoryBudget,
  servers: number,
): readonly DoctorFinding[] {
  const used = numberOf(facts, 'used_memory') ?? 0;
  const most = numberOf(facts, 'maxmemory') ?? 0;
  if (most === 0) {
    const message = `Redis at ${facts.server} has no memory limit (maxmemory 0) and uses ${sizeOf(used)}.`;
    const remedy =
      'Set maxmemory to half of the memory of its machine: without it the kernel kills Redis if memory runs out.';
    return [warning('redis.memory', message, remedy)];
  }
  const message = `Redis at ${facts.server} uses ${sizeOf(used)} of ${sizeOf(most)} (maxmemory).`;
  const remedy =
    'Raise maxmemory, or lower RESULT_RETENTION_SECONDS or RESULTS_MAX_MIB. When it is full, checks get 503.';
  const usage =
    used >= most * FULL_AT
      ? error('redis.memory', message, remedy)
      : used >= most * NEARLY_FULL_AT
        ? warning('redis.memory', message, remedy)
        : ok('redis.memory', message);
  const planned = (resultsBytes === undefined ? most / 2 : resultsBytes / servers) + screenshotsBytes / servers;
  const plan =
    `Results (RESULTS_MAX_MIB) and screenshots (SCREENSHOTS_MAX_MIB) may take ${sizeOf(planned)} of the ` +
    `${sizeOf(most)} of Redis at ${facts.server}.`;
  return [
    usage,
    ...checkMachine(facts, most),
    planned > most * NEARLY_FULL_AT
      ? warning('redis.budget', plan, 'Lower one of the two, or raise maxmemory: queues need the rest.')
      : ok('redis.budget', plan),
  ];
}

/** A limit near the memory of the machine has no effect: the kernel kills Redis before it refuses a write. */
function checkMachine(facts: RedisFacts, most: number): readonly DoctorFinding[] {
  const machine = numberOf(facts, 'total_system_memory') ?? 0;
  if (machine === 0 || most <= machine * NEARLY_FULL_AT) return [];
  return [
    warning(
      'redis.memory',
      `Redis at ${facts.server} may use ${sizeOf(most)} (maxmemory) of the ${sizeOf(machine)} of its machine: the kernel may kill it first.`,
      'Set maxmemory to half of the memory of its machine: a rewrite of the append-only file may need as much again.',
    ),
  ];
}
