import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { findBrowser } from '@vantage/diagnostics';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { browserFolder, type BrowserFolder } from '../test/browsers.ts';
import { eventually, startRig, type Rig } from '../test/rig.ts';

const missing = findBrowser(process.env['PATH']) === undefined;
// In CI the tests run without a browser too, and fail: none may be skipped.
const itWithBrowser = missing && process.env['CI'] === undefined ? it.skip : it;

/** Time limit of each wait: browsers start slowly on a busy machine. */
const WAIT_LIMIT_MS = 240_000;

let rig: Rig;
let folder: BrowserFolder;
let site: Server;
let asked: string[];
const children: ChildProcess[] = [];

beforeAll(async () => {
  rig = await startRig();
  // Only requests for / are answered.
  site = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/') response.setHeader('Content-Type', 'text/html').end('<body style="background: lime">');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
});

afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await rig.stop();
});

afterEach(async () => {
  await Promise.all(children.splice(0).map(end));
  folder.remove();
});

const urlOf = (path: string): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`;

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Starts the real program. */
function start(probe: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = fork(bundledProgram('probe-agent'), [], {
    env: {
      ...programEnv(),
      PROBE_ID: probe,
      REDIS_URL: rig.server().url,
      TMPDIR: folder.path,
      TARGET_ALLOW: '127.0.0.0/8',
      DNS_SERVERS: '127.0.0.1:9',
      SCREENSHOTS: 'on',
      LOG_LEVEL: 'silent',
      ...env,
    },
    // The closed IPC channel tells the agent that this process has exited.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  children.push(child);
  return child;
}

async function untilOffered(probe: string): Promise<void> {
  await eventually(
    async () => ((await rig.heartbeat(probe))?.capabilities.screenshot === true ? true : undefined),
    WAIT_LIMIT_MS,
  );
}

/** Adds a screenshot job of a page that never finishes, and waits until a browser loads it; returns the check ID. */
async function startHeld(probe: string): Promise<string> {
  for (;;) {
    // The page timeout is proportional to the job's remaining time.
    const check = await rig.addScreenshotJob(probe, urlOf('/held'), 2 * WAIT_LIMIT_MS);
    const isHeld = await eventually(async () => {
      if (asked.includes('/held')) return true;
      const isOver = (await rig.results(probe)).some((result) => result.check === check);
      return isOver ? false : undefined;
    }, WAIT_LIMIT_MS);
    // If the browser did not start, the next job may succeed.
    if (!isHeld) continue;
    expect((await folder.processes()).length).toBeGreaterThan(0);
    return check;
  }
}

const untilNoBrowser = (): Promise<true> =>
  eventually(async () => ((await folder.processes()).length === 0 ? true : undefined), WAIT_LIMIT_MS);

describe('the program that takes screenshots', () => {
  itWithBrowser(
    'offers them once its self-test has passed, takes them of what its own policy admits, and ends them on SIGTERM',
    async () => {
      [folder, asked] = [browserFolder(), []];
      const child = start('real', { DRAIN_SECONDS: '0' });
      await untilOffered('real');

      const taken = await rig.addScreenshotJob('real', urlOf('/'), 2 * WAIT_LIMIT_MS);
      const refused = await rig.addScreenshotJob('real', 'http://10.0.0.1/');

      const { png, failure } = await rig.screenshot('real', taken);
      expect(failure).toBeNull();
      expect([Buffer.from(png!).readUInt32BE(16), Buffer.from(png!).readUInt32BE(20)]).toEqual([1280, 800]);
      expect((await rig.screenshot('real', refused)).failure?.code).toBe('target_refused_by_policy');
      expect(asked).toContain('/');
      await untilNoBrowser();
      expect((await rig.heartbeat('real'))?.degraded.filter((reason) => reason.startsWith('screenshot'))).toEqual([]);

      const held = await startHeld('real');
      const exited = once(child, 'exit');
      child.kill('SIGTERM');

      expect(await exited).toEqual([0, null]);
      expect((await rig.screenshot('real', held)).failure?.code).toBe('probe_interrupted');
      await untilNoBrowser();
      expect(folder.contents()).toEqual([]);
    },
    WAIT_LIMIT_MS * 3,
  );

  itWithBrowser(
    'leaves no browser behind when it is killed, and no file once it is back',
    async () => {
      [folder, asked] = [browserFolder(), []];
      const child = start('killed');
      await untilOffered('killed');
      const check = await startHeld('killed');
      const left = folder.contents();
      expect(left).toHaveLength(1);

      await end(child);
      await untilNoBrowser();
      start('killed');

      expect((await rig.screenshot('killed', check)).failure?.code).toBe('probe_interrupted');
      // Stale folders are removed before the self-test.
      await eventually(() => (folder.contents().some((name) => left.includes(name)) ? undefined : true), WAIT_LIMIT_MS);
    },
    WAIT_LIMIT_MS * 3,
  );

  it.each([
    ['says what is missing where they are asked for', 'on', ['screenshot: /nowhere/chromium cannot be executed.']],
    ['is content without a browser by default', 'auto', []],
  ])(
    '%s',
    async (_reason, wish, expected) => {
      [folder, asked] = [browserFolder(), []];
      const probe = `without-${wish}`;
      start(probe, { SCREENSHOTS: wish, BROWSER: '/nowhere/chromium' });
      const first = await eventually(() => rig.heartbeat(probe), WAIT_LIMIT_MS);
      expect(first.capabilities.screenshot).toBe(false);
      const check = await rig.addScreenshotJob(probe, urlOf('/'));
      const { failure } = await rig.screenshot(probe, check);
      expect(failure).toMatchObject({ code: 'capability_missing', message: expect.stringContaining('/nowhere') });

      const reasons = await eventually(async () => {
        const degraded = (await rig.heartbeat(probe))?.degraded.filter((reason) => reason.startsWith('screenshot'));
        return degraded?.length === expected.length ? degraded : undefined;
      }, WAIT_LIMIT_MS);

      expect(reasons).toEqual(expected);
    },
    WAIT_LIMIT_MS * 2,
  );
});
