import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { runLab, type LabOptions, type LabReport } from '../../../test/browser-lab.ts';
import { browserHere } from '@vantage/test-support/browser/needs';
import { itNeeding } from '@vantage/test-support/needs';
import { ownAddresses } from './canaries.ts';
import { canMakeNamespace } from '../process/namespace.ts';

const IP = '/usr/sbin/ip';
const browser = browserHere(process.env['PATH']);
const itWithBrowser = itNeeding(browser.missing, process.env['CI']);
const itInNamespace = itNeeding(browser.missing ?? namespaceMissing(), process.env['CI']);

const canHaveOwn = await canMakeNamespace(process.getuid?.() === 0 ? { uid: 65_534 } : {});
const itOfItsOwn = itNeeding(
  browser.missing ?? (canHaveOwn ? null : 'a browser cannot have a network namespace here'),
  process.env['CI'],
);

/** Prefixes of the flags without which packets leak. */
const leaky = ['--proxy-bypass-list', '--webrtc', '--force-webrtc', '--host-resolver'];

/** Address of the page. It represents the internet, and only a test namespace has it. */
const PAGE_ADDRESS = '203.0.113.80';
const secretAddresses = [
  '127.0.0.1',
  '::1',
  '10.66.0.1',
  '172.16.66.1',
  '192.168.66.1',
  '100.64.66.1',
  '169.254.169.254',
  'fd00:66::1',
];

describe('a page that tries to reach what it must not', () => {
  itWithBrowser('reaches nothing on loopback', async () => {
    const report = await runLab({
      executablePath: browser.executablePath,
      pageAddress: '127.0.0.1',
      pageHost: 'page.localhost',
      canaries: ['127.0.0.1', '::1'],
      nameServer: false,
      without: [],
      namespace: false,
      others: ['redirect', 'refresh'],
    });

    expect(report.touched).toEqual([]);
    expect(report.asked).toEqual(expect.arrayContaining(['127.0.0.1', 'rebinding.test', 'localhost']));
    expect(report.paths).toEqual(expect.arrayContaining(['/done', '/redirect', '/worker.js', '/worker-tried']));
    expect(report.redirectFailure).toMatchObject({ code: 'target_refused_by_policy' });
    expect(report.refreshFailure).toMatchObject({ code: 'target_refused_by_policy' });
    expect(report.screenshotBytes).toBeGreaterThan(1_000);
  });
});

describe('a browser in a separate network namespace', () => {
  itOfItsOwn('reaches nothing on loopback even without the flags', async () => {
    const report = await runLab({
      executablePath: browser.executablePath,
      pageAddress: '127.0.0.1',
      pageHost: 'page.test',
      canaries: ownAddresses(),
      nameServer: false,
      without: leaky,
      namespace: true,
    });

    expect(report.touched).toEqual([]);
    expect(report.paths).toContain('/done');
    expect(report.screenshotBytes).toBeGreaterThan(1_000);
  });
});

describe('in a network that has private and metadata addresses', () => {
  const namespace = `vantage-${process.pid}-shot`;

  beforeAll(() => {
    if (browser.missing === null && namespaceMissing() === null) makeNamespace(namespace);
  });

  afterAll(() => removeNamespace(namespace));

  const lab = (without: readonly string[], more: Partial<LabOptions>): Promise<LabReport> =>
    runInNamespace(namespace, {
      executablePath: browser.executablePath,
      pageAddress: PAGE_ADDRESS,
      // With all flags the proxy gets a name under `.localhost` like any other; without them Chromium resolves it to
      // loopback.
      pageHost: without.length === 0 ? 'page.localhost' : 'page.test',
      canaries: secretAddresses,
      nameServer: true,
      without,
      namespace: false,
      ...more,
    });

  itInNamespace('a page reaches none of them, and the browser asks no name server', async () => {
    const report = await lab([], { others: ['redirect'] });

    expect(report.canaries).toHaveLength(2 * secretAddresses.length);
    expect(report.touched).toEqual([]);
    expect(report.questions).toBe(0);
    expect(report.asked).toEqual(expect.arrayContaining(['10.66.0.1', '169.254.169.254', 'rebinding.test']));
    expect(report.paths).toEqual(expect.arrayContaining(['/done', '/worker-tried']));
    expect(report.redirectFailure).toMatchObject({ code: 'target_refused_by_policy' });
  });

  itInNamespace('the same page reaches them without the flags, so the canaries can sing', async () => {
    const reachable = ['tcp 127.0.0.1:', 'tcp 169.254.169.254:', 'udp 10.66.0.1:', 'udp 169.254.169.254:'];

    const { touched } = await lab(leaky, { awaitTouched: reachable });

    expect(reachable.filter((start) => !touched.some((name) => name.startsWith(start)))).toEqual([]);
  });
});

function namespaceMissing(): string | null {
  const name = `vantage-${process.pid}-shot-try`;
  try {
    execFileSync(IP, ['netns', 'add', name], { stdio: 'pipe' });
    execFileSync(IP, ['netns', 'delete', name], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return `no network namespace can be made here: ${Error.isError(error) ? error.message.trim() : String(error)}`;
  }
}

/** A namespace that owns every address of the test: no packet can leave it. */
function makeNamespace(name: string): void {
  const ip = (...args: readonly string[]): unknown => execFileSync(IP, args, { stdio: 'pipe' });
  // `ip netns exec` shows this file as /etc/resolv.conf.
  mkdirSync(`/etc/netns/${name}`, { recursive: true });
  writeFileSync(`/etc/netns/${name}/resolv.conf`, 'nameserver 127.0.0.1\n');
  ip('netns', 'add', name);
  ip('-n', name, 'link', 'set', 'lo', 'up');
  // Chromium sends no UDP on a machine with loopback alone. Both ends of this link stay in the namespace.
  ip('-n', name, 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far');
  for (const end of ['near', 'far']) ip('-n', name, 'link', 'set', end, 'up');
  ip('-n', name, 'addr', 'add', '198.51.100.2/24', 'dev', 'near');
  ip('-n', name, 'route', 'add', 'default', 'via', '198.51.100.1');
  for (const address of [PAGE_ADDRESS, ...secretAddresses.filter((one) => one !== '127.0.0.1' && one !== '::1')]) {
    ip('-n', name, 'addr', 'add', `${address}/${address.includes(':') ? 128 : 32}`, 'dev', 'lo');
  }
}

function removeNamespace(name: string): void {
  try {
    rmSync(`/etc/netns/${name}`, { recursive: true, force: true });
    execFileSync(IP, ['netns', 'delete', name], { stdio: 'pipe' });
    // The folder is removed only when it is empty, because others may use it.
    if (readdirSync('/etc/netns').length === 0) rmdirSync('/etc/netns');
  } catch {
    // There may be no namespace to remove.
  }
}

function runInNamespace(name: string, options: LabOptions): Promise<LabReport> {
  const program = fileURLToPath(new URL('../../../test/browser-lab-process.ts', import.meta.url));
  const node = [process.execPath, '--conditions=vantage-source', '--no-warnings', program, JSON.stringify(options)];
  return new Promise((resolve, reject) => {
    execFile(IP, ['netns', 'exec', name, ...node], { timeout: 280_000 }, (error, stdout, stderr) => {
      if (error !== null) return reject(new Error(`The lab failed: ${stderr.slice(-2_000)}`));
      resolve(JSON.parse(stdout) as LabReport);
    });
  });
}
