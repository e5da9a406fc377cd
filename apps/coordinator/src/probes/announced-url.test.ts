import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { redisKeys } from '@vantage/contract';

import { quiet, startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { announcedUrl, currentUrls } from './announced-url.ts';

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(() => bed.stop());

it('the address of a running coordinator is stored again at the next look after Redis has lost it', async () => {
  const url = 'https://vantage.example.com';
  const clock = { now: async () => Date.now(), observe: () => undefined };
  const { announce, task } = announcedUrl(bed.redis, clock, quiet);
  announce(url, true);
  await until(async () => (await bed.redis.get(redisKeys.serviceUrl)) === url);
  await task.run(0);
  await bed.redis.flushall();

  await task.run(1);

  expect(await bed.redis.get(redisKeys.serviceUrl)).toBe(url);
  expect(await currentUrls(bed.redis)).toEqual([{ url, isSet: true }]);
});

it('an address that Redis has is not written at each look', async () => {
  const { announce, task } = announcedUrl(bed.redis, { now: async () => 1, observe: () => undefined }, quiet);
  announce('https://vantage.example.com', true);
  await task.run(0);
  await bed.redis.set(redisKeys.serviceUrl, 'of another');

  await task.run(1);

  expect(await bed.redis.get(redisKeys.serviceUrl)).toBe('of another');
});
