import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { createClient } from '@vantage/client';

import { packagesMissing } from '@vantage/test-support/debian-packages';
import { untilProbesAreUp } from '../trial-probes.ts';
import { startDeployment, type Coordinator } from './deployment.ts';
import { openHistory, readHistory } from './history.ts';
import { verifyHistory } from './verify-history.ts';
import { observe } from './observer.ts';
import { openWatched, watchOutages } from './outage-watch.ts';
import { seeded } from '@vantage/test-support/random/seeded';
import { startNginx } from './reverse-proxy.ts';
import { requestsFor } from './run.ts';

const AGENTS = 3;
const missing = await packagesMissing(['nginx']);
const withNginx = missing === null || process.env['CI'] !== undefined ? it : it.skip;

describe('a service whose coordinators and agents are restarted one after the other', () => {
  withNginx(
    `answers every request and follows every check to its end ${missing ?? ''}`,
    async () => {
      const deployment = await startDeployment({
        agents: AGENTS,
        store: 'single',
        // On a busy machine jobs are slow; overload is not under test here.
        coordinatorEnv: { LONGEST_QUEUE_MILLISECONDS: '60000' },
      });
      const random = seeded(11);
      const port = await deployment.store.masterPort();
      const file = join(deployment.folder, 'history.jsonl');
      const history = openHistory(file);
      history.add({ kind: 'setup', store: 'single', indulgenceMs: 20_000 });
      const outages = watchOutages(
        () => openWatched([{ port }]),
        () => true,
        (outage) => history.add({ kind: 'outage', ...outage }),
      );
      const nginx = await startNginx(
        deployment.coordinators.map(({ url }) => url),
        deployment.folder,
      );
      try {
        const always: Coordinator['part'] = {
          ...deployment.coordinators[0]!.part,
          name: 'nginx',
          ranSince: () => true,
        };
        const observer = observe({
          coordinators: [{ part: always, url: nginx.url, link: undefined, host: undefined }],
          history,
          rate: 4,
          random,
          nextRequest: requestsFor(deployment, random),
        });
        observer.attribute('rolling restart');
        const client = createClient({ baseUrl: nginx.url });
        const stopping = new AbortController();
        const slow = {
          type: 'udp',
          host: '127.0.0.1',
          port: deployment.targets.silentPort,
          options: { attempts: 1 },
        } as const;

        let refusals = 0;
        const refusal = (error: unknown): undefined => {
          expect(error).toMatchObject({ status: 503 });
          refusals += 1;
        };
        /** Outcomes of the checks of two clients, each of which has a response open all the time. */
        const ends: { readonly waited: string[]; readonly followed: string[] } = { waited: [], followed: [] };
        const waiting = (async () => {
          while (!stopping.signal.aborted) {
            const check = await client.check(slow).catch(refusal);
            if (check !== undefined) ends.waited.push(check.status);
          }
        })();
        const following = (async () => {
          while (!stopping.signal.aborted) {
            const started = await client.startCheck(slow).catch(refusal);
            if (started === undefined) continue;
            let last = '';
            for await (const event of client.watch(started.checkId)) last = event.type;
            ends.followed.push(last);
          }
        })();

        const begunAt = Date.now();
        const drained: boolean[] = [];
        for (const { part, url } of deployment.coordinators) {
          drained.push(await part.drain());
          part.start();
          await untilProbesAreUp(url, AGENTS);
        }
        for (const { part } of deployment.agents) {
          drained.push(await part.drain());
          part.start();
          await untilProbesAreUp(nginx.url, AGENTS);
        }
        stopping.abort();
        await Promise.all([waiting, following]);
        await observer.finish();
        // If a write to Redis takes longer than 400 ms, the machine may be the cause of a failed request.
        const isStarved = outages.within(begunAt, Date.now()) > 0;
        await outages.stop();
        await history.close();
        const tally = verifyHistory(readHistory(file)).find(({ fault }) => fault === 'rolling restart');

        expect(drained).toEqual(Array(2 + AGENTS).fill(true));
        expect(tally).toMatchObject({ broken: {}, cutOff: 0, notes: [] });
        if (!isStarved) expect([refusals, tally?.refused]).toEqual([0, 0]);
        expect(ends.waited.length).toBeGreaterThan(0);
        expect(ends.followed.length).toBeGreaterThan(0);
        expect([...new Set([...ends.waited, ...ends.followed])]).toEqual(['completed']);
      } finally {
        await outages.stop();
        await nginx.stop();
        await deployment.stop();
      }
    },
    600_000,
  );
});
