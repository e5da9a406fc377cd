import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { netlabMissing } from '../netlab.ts';
import { BROKEN, CORE, ONWARD, openAlarmLab, type AlarmLab } from './alarm.ts';

const missing = netlabMissing() ?? (await packagesMissing(['nftables']));
// Concurrent: each fault has its own monitor.
const itInNetlab = itNeeding(missing, process.env['CI'], 'concurrent');

// Allows for a busy machine.
jest.setTimeout(900_000);

let lab: AlarmLab | undefined;
beforeAll(async () => {
  if (missing === null) lab = await openAlarmLab();
});
afterAll(() => lab?.close());

describe('the traces of a monitor that turned bad', () => {
  itInNetlab('name the last common router and where the paths part, if one way is silent', async () => {
    const { sentence, traced } = await lab!.alarm('silence');

    expect(traced).toEqual(['fails', 'works']);
    expect(sentence).toMatch(
      new RegExp(`show hop 2, ${CORE} in AS\\S+ .* as the last router in common: they part between AS`),
    );
    expect(sentence).toContain(`nothing answers the failing ones beyond hop 3, ${BROKEN} in AS`);
    expect(sentence).toContain(`the working ones go on over hop 3, ${ONWARD} in AS`);
  });

  itInNetlab('name them, if one way only loses packets', async () => {
    const { sentence } = await lab!.alarm('loss');

    expect(sentence).toMatch(
      new RegExp(`show hop 2, ${CORE} in AS\\S+ .* as the last router in common before loss shows: they part`),
    );
    expect(sentence).toMatch(/loss begins (at|between) .*\(fails loses \d+ %\)/);
    expect(sentence).toContain(`the working ones go on over hop 3, ${ONWARD} in AS`);
    // Of ten rounds, an agent that stalls leaves out those under way.
    expect(sentence).toMatch(/and lose none of ([5-9]|10) packets\./);
  });

  const dropped =
    '; the target answers the echo requests of fails: a filter on the way or the target itself drops the TCP packets';
  itInNetlab('name them, if a filter of one way drops the port and ICMP passes', async () => {
    const { sentence } = await lab!.alarm('filter');

    expect(sentence).toMatch(
      new RegExp(`show hop 2, ${CORE} in AS\\S+ .* as the last router in common: they part between AS`),
    );
    expect(sentence).toContain(`nothing answers the failing ones beyond hop 3, ${BROKEN} in AS`);
    expect(sentence).toContain(`the working ones go on over hop 3, ${ONWARD} in AS`);
    expect(sentence).toContain(dropped);
  });

  itInNetlab('do not say that all is well if a filter resets the connections', async () => {
    const { sentence } = await lab!.alarm('resets');

    expect(sentence).toMatch(
      /^The paths from the failing fails reach the target: .*, or a filter on the path resets connections in its name\.$/,
    );
  });

  itInNetlab('name the router in common that refuses the packets, at its own hop', async () => {
    const { sentence } = await lab!.alarm('refusal');

    expect(sentence).toMatch(
      new RegExp(
        `show hop 2, ${CORE} in AS\\S+ .* as the last router in common: the failing ones go no further, and the working ones go on over hop 3, ${ONWARD} in AS`,
      ),
    );
    expect(sentence).toMatch(
      new RegExp(`; hop 2, ${CORE} in AS\\S+ .* tells fails that a filter forbids the traffic \\(!X\\)\\.$`),
    );
  });
});
