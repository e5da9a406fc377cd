import { networks } from '../../../../packages/diagnostics/test/balanced-network.ts';
import { searched } from '../../../../packages/diagnostics/test/path-search.ts';
import type { Figure } from '../../goals.ts';

const RUNS = 1_000;
const LEAST_PERCENT = 95;
/** Searches between two yields to the event loop, so that progress is displayed and signals are handled. */
const AT_ONCE = 20;

/** The search alone, without sockets and loss: enough runs for a rate of each shape. */
export async function findsAllModelled(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  let wrong = 0;
  for (const [name, network] of Object.entries(networks)) {
    let complete = 0;
    for (let seed = 0; seed < RUNS; seed += 1) {
      if (seed % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      const run = searched(network, seed);
      if (run.isComplete) complete += 1;
      wrong += run.wrong.length;
    }
    const [value, comparison] = [(100 * complete) / RUNS, `of ${RUNS} modelled runs`];
    figures.push({ name: `model, ${name}: every link found`, value, unit: '%', atLeast: LEAST_PERCENT, comparison });
  }
  return [...figures, { name: 'model: links that do not exist', value: wrong, unit: '', atMost: 0 }];
}
