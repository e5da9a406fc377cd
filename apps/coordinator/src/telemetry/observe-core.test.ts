import { expect, it } from '@jest/globals';
import { openMetrics } from '@vantage/telemetry';

import { coordinatorMetrics } from './declared.ts';
import { showProbes } from './observe-core.ts';

it('probes that cannot be read have no series, and are not counted as none', async () => {
  const metrics = await openMetrics(coordinatorMetrics, () => undefined);
  const shown = async (): Promise<readonly string[]> =>
    (await metrics.scrape()).split('\n').filter((line) => line.startsWith('vantage_probe'));

  showProbes(metrics, []);
  const none = await shown();
  showProbes(metrics, undefined);

  expect(none).toEqual([
    'vantage_probes{status="healthy"} 0',
    'vantage_probes{status="degraded"} 0',
    'vantage_probes{status="offline"} 0',
  ]);
  expect(await shown()).toEqual([]);
});
