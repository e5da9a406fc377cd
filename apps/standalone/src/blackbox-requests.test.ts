import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { requestCases, requestModules } from '../test/request-cases.ts';
import { NGINX, startRequestTargets, type RequestTargets } from '../test/request-targets.ts';
import { temporaryFolder } from '../test/service.ts';
import { comparable, EXPORTER_PACKAGES, startSideBySide, type SideBySide } from '../test/side-by-side.ts';

const missing = await packagesMissing(EXPORTER_PACKAGES, NGINX);
const itSideBySide = itNeeding(missing, process.env['CI']);

describe('a module with options of requests in Vantage and in blackbox_exporter', () => {
  const data = temporaryFolder();
  let targets: RequestTargets;
  let both: SideBySide;

  beforeAll(async () => {
    if (missing !== null) return;
    targets = await startRequestTargets(data.folder);
    both = await startSideBySide(data.folder, `modules:\n${requestModules(targets)}`, targets.files.ca);
  });

  afterAll(async () => {
    await both?.stop();
    await targets?.close();
    data.remove();
  });

  for (const [what, module, target, success] of requestCases) {
    itSideBySide(`has the same series for ${what}`, async () => {
      const at = target(targets);
      const theirs = await both.scrape(both.exporter, module, at);
      const ours = await both.scrape(both.vantage, module, at);
      expect(theirs.get('probe_success')).toBe(success);
      expect(comparable(ours)).toEqual(comparable(theirs));
    });
  }

  itSideBySide('has the same series for a host of the query', async () => {
    const hostname = { hostname: 'virtual.example.com' };
    const theirs = await both.scrape(both.exporter, 'virtual', targets.echo, hostname);
    const ours = await both.scrape(both.vantage, 'virtual', targets.echo, hostname);
    expect(theirs.get('probe_success')).toBe(1);
    expect(comparable(ours)).toEqual(comparable(theirs));
    await expect(both.scrape(both.exporter, 'headers', targets.echo, { hostname: 'a.example.com' })).rejects.toThrow(
      '400',
    );
    await expect(both.scrape(both.vantage, 'headers', targets.echo, { hostname: 'a.example.com' })).rejects.toThrow(
      '400',
    );
  });
});
