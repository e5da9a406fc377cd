import { afterEach, describe, expect, it } from '@jest/globals';
import type { AnyCheckType, Check, Summary } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import { startCoreBed, until, type CoreBed } from '../../../../test/core-bed.ts';
import { report } from '../../../../test/check-steps.ts';
import { startHttpBed, tcpCheck, type BedOptions, type HttpBed } from '../../../../test/http-bed.ts';
import { CHECK_ID, highLimits } from '../../../../test/http-fakes.ts';
import type { Checks, ScreenshotReading } from '../../../checks/checks.ts';

let bed: HttpBed | undefined;
let core: CoreBed | undefined;

afterEach(async () => {
  await bed?.close();
  await core?.stop();
  [bed, core] = [undefined, undefined];
});

async function start(options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  return bed;
}

describe('GET /check/:id/summary', () => {
  it('is not to be kept while the check is pending, and for a minute once completed', async () => {
    const { ask, stored } = await start();

    stored.set(CHECK_ID, tcpCheck('pending'));
    const pending = await ask(`/check/${CHECK_ID}/summary`);
    stored.set(CHECK_ID, tcpCheck('completed'));
    const completed = await ask(`/check/${CHECK_ID}/summary`);

    expect(pending.json).toMatchObject({ status: 'pending', verdict: 'up', counts: { up: 1, pending: 1 } });
    expect(pending.headers.get('Cache-Control')).toBe('no-store');
    expect(completed.json).toMatchObject({ checkId: CHECK_ID, status: 'completed', agree: { n: 2, of: 2 } });
    expect(completed.headers.get('Cache-Control')).toBe('public, max-age=60');
  });

  it('is kept no longer than the check', async () => {
    const { ask, stored } = await start({ retentionSeconds: 1 });

    stored.set(CHECK_ID, { ...tcpCheck('completed'), completedAt: '2026-01-01T00:00:00.000Z' });

    expect((await ask(`/check/${CHECK_ID}/summary`)).headers.get('Cache-Control')).toBe('public, max-age=0');
  });

  it('answers 304 to a client that has it', async () => {
    const { ask, stored } = await start();
    stored.set(CHECK_ID, tcpCheck('completed'));

    const first = await ask(`/check/${CHECK_ID}/summary`);
    const again = await ask(`/check/${CHECK_ID}/summary`, { headers: { 'If-None-Match': first.headers.get('ETag')! } });

    expect([first.status, again.status, again.text]).toEqual([200, 304, '']);
  });

  it.each([CHECK_ID, 'abc', '__proto__'])('answers 404 to %s, which no check is called', async (id) => {
    const { ask } = await start();

    expect((await ask(`/check/${id}/summary`)).status).toBe(404);
  });

  it('has a separate limit', async () => {
    const { ask } = await start({ rateLimits: { ...highLimits, showSummary: 1 } });

    const answers = [await ask(`/check/${CHECK_ID}/summary`), await ask(`/check/${CHECK_ID}/summary`)];

    expect(answers.map(({ status }) => status)).toEqual([404, 429]);
    expect((await ask(`/check/${CHECK_ID}/results`)).status).toBe(404);
  });

  it('says why there is no screenshot', async () => {
    const http: Check = { ...tcpCheck('completed'), type: 'http', host: 'https://example.com/' };
    const reason = { code: 'screenshot_failed', phase: 'exec', source: 'probe', message: 'No browser.' } as const;
    const reading: ScreenshotReading = {
      screenshot: { state: 'given_up', probe: 'fra-1', reason },
      png: null,
      createdAt: 0,
    };
    const checks: Checks = {
      select: () => Promise.reject(new Error('no check is created here')),
      create: () => Promise.reject(new Error('no check is created here')),
      read: async () => http,
      screenshot: async () => reading,
      noteShed: () => undefined,
    };
    const { ask } = await start({ checks });

    const { findings } = (await ask(`/check/${CHECK_ID}/summary`)).json as Summary;

    expect(findings).toEqual([
      expect.objectContaining({
        code: 'screenshot_missing',
        probes: ['fra-1'],
        text: expect.stringContaining('no browser'),
      }),
    ]);
  });

  it('is of the results in Redis and of the probes’ places, as they come and after a probe is removed', async () => {
    core = await startCoreBed({}, { checkTypes });
    const { redis } = core;
    const places = { 'fra-1': 'DE', 'ber-1': 'DE', 'par-1': 'FR', 'nyc-1': 'US' };
    for (const [id, countryCode] of Object.entries(places)) await core.addProbe(id, { countryCode });
    const capabilities = { types: ['tcp'], ipv4: true, ipv6: false, screenshot: false };
    const beatAll = (): Promise<unknown> =>
      Promise.all(Object.keys(places).map((id) => core!.beat(id, { capabilities })));
    const { checks, probes } = core.core;
    const { ask } = await start({ checks, probes });
    // Data of probes is refreshed in the background.
    await until(async () => {
      await beatAll();
      return Object.values(await probes.list()).filter(({ status }) => status === 'healthy').length === 4;
    });
    const tcp: AnyCheckType = checkTypes.tcp;
    const created = await checks.create({
      checkType: { ...tcp, budgetMs: () => 60_000 },
      submittedHost: 'example.com',
      params: { host: 'example.com', port: 443, options: { attempts: 1 } } as never,
      probes: Object.keys(places),
      limit: 10,
    });
    if (!created.created) throw new Error(JSON.stringify(created));
    const { checkId } = created;
    const read = async (): Promise<Summary> => (await ask(`/check/${checkId}/summary`)).json as Summary;
    const times = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:00.100Z' };
    const open = {
      result: 'success',
      rt: 50,
      resolvedIp: '192.0.2.1',
      error: null,
      ...times,
      state: 'open',
      port: 443,
      attempts: [{ rt: 50, error: null }],
    };
    const error = { code: 'connection_refused', phase: 'connect', source: 'target', message: 'Refused.' };
    const closed = { ...open, result: 'failure', rt: null, error, state: 'closed', attempts: [{ rt: null, error }] };

    expect((await read()).headline).toBe('No probe has measured example.com yet.');
    await report(redis, 'nyc-1', checkId, open);
    await until(async () => (await read()).counts.up === 1);
    await report(redis, 'fra-1', checkId, closed);
    await report(redis, 'ber-1', checkId, closed);
    await report(redis, 'par-1', checkId, open);
    await until(async () => (await read()).status === 'completed');
    const whole = await read();
    await core.core.probeRecords.remove('ber-1');
    await until(async () => !Object.keys(await probes.list()).includes('ber-1'));
    const later = await read();

    expect(whole).toMatchObject({ verdict: 'partial', agree: { n: 2, of: 4 } });
    expect(whole.headline).toBe(
      'Port 443 of example.com is open from 2 of 4 probes, and fails from the 2 probes in Germany: the connection was refused.',
    );
    expect(whole.findings[0]).toMatchObject({ code: 'down_country', probes: ['ber-1', 'fra-1'] });
    expect(later.counts).toEqual(whole.counts);
    expect(later.findings[0]).toMatchObject({ code: 'down_some', probes: ['ber-1', 'fra-1'] });
  });
});
