import { BROKEN, CORE, ONWARD, openAlarmLab } from '../../netlab/service/alarm.ts';
import type { Figure } from '../goals.ts';

const ALARMS = 4;
const WITHIN_MS = 5_000;

/**
 * Alarms of a monitor in a network of namespaces: how soon its traces start, and whether they name the place of the
 * fault.
 */
export async function namesWhereAlarmsPart(): Promise<readonly Figure[]> {
  const lab = await openAlarmLab();
  const delays: number[] = [];
  const wrong = { silence: 0, loss: 0 };
  try {
    for (let run = 0; run < ALARMS; run += 1) {
      const fault = run % 2 === 0 ? 'silence' : 'loss';
      const { traceDelayMs, sentence } = await lab.alarm(fault);
      delays.push(traceDelayMs);
      const isNamed = new RegExp(`${CORE} in .* as the last router in common.*over hop 3, ${ONWARD} in`).test(sentence);
      if (!isNamed || (fault === 'silence' && !sentence.includes(BROKEN))) wrong[fault] += 1;
    }
  } finally {
    await lab.close();
  }
  const comparison = delays.map((delay) => `${Math.round(delay)} ms`).join(', ');
  return [
    {
      name: 'from the end of the check to the start of the last trace, worst',
      value: Math.max(...delays),
      unit: 'ms',
      atMost: WITHIN_MS,
      comparison,
    },
    ...(['silence', 'loss'] as const).map((fault) => ({
      name: `sentences without the last common router and the way on, ${fault}`,
      value: wrong[fault],
      unit: `of ${ALARMS / 2}`,
      atMost: 0,
    })),
  ];
}
