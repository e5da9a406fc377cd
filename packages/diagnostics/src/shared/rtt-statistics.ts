import { roundMs } from '@vantage/contract';

export interface RttStatistics {
  readonly rttMin: number | null;
  readonly rttAvg: number | null;
  readonly rttMax: number | null;
  readonly rttStdDev: number | null;
  readonly jitter: number | null;
}

/**
 * Statistics of round-trip times, milliseconds, in the order of the packets sent. All null without any time; the jitter
 * needs two.
 */
export function rttStatistics(rtts: readonly number[]): RttStatistics {
  if (rtts.length === 0) return { rttMin: null, rttAvg: null, rttMax: null, rttStdDev: null, jitter: null };
  const average = mean(rtts);
  const variance = mean(rtts.map((rtt) => (rtt - average) ** 2));
  const differences = rtts.slice(1).map((rtt, index) => Math.abs(rtt - rtts[index]!));
  return {
    rttMin: roundMs(Math.min(...rtts)),
    rttAvg: roundMs(average),
    rttMax: roundMs(Math.max(...rtts)),
    rttStdDev: roundMs(Math.sqrt(variance)),
    jitter: differences.length === 0 ? null : roundMs(mean(differences)),
  };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
