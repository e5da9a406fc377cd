import { describe, expect, it } from '@jest/globals';

import { addressesToRefuse } from './addresses-to-refuse.ts';
import { tryHostileInputs } from './api-audit.ts';
import { hostileInputs } from './hostile-inputs.ts';

const WITHIN_MS = 180_000;

describe('the hostile inputs', () => {
  it('have addresses of every kind, and none that may be measured', () => {
    const addresses = addressesToRefuse();

    expect(addresses).toEqual(
      expect.arrayContaining(['127.0.0.1', '10.0.0.1', '169.254.0.1', '255.255.255.255', '0:0:0:0:0:0:0:1']),
    );
    expect(addresses).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(8\.8\.|1\.1\.1\.|2606:4700:)/)]));
    expect(hostileInputs().length).toBeGreaterThan(5_000);
  });

  it(
    'are all refused by the coordinator, with a problem document and no internal error',
    async () => {
      // One input of eleven; `npm run -s audit:security` tries all.
      const { inputs, ...seen } = await tryHostileInputs(11);

      expect(inputs).toBeGreaterThan(500);
      expect(seen).toMatchObject({ wronglyAccepted: [], serverErrors: 0, faults: [] });
    },
    WITHIN_MS,
  );
});
