import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { runCli } from './run.ts';

const EVENTS = expect.stringMatching(/^\/check\/.+\/events$/);
const HOSTILE = '\u001B]0;owned\u0007\u009B31m\u202E';

describe('what the program writes', () => {
  let server: Server;
  let folder: string;
  const authorizations: (string | undefined)[] = [];
  const paths: string[] = [];
  /** While true, requests for event streams get no response. */
  let isHeld = false;
  let onHeld = (): void => undefined;
  let message = HOSTILE;
  /** Replaces fields of the result. */
  let replaced: object = {};

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-cli-'));
    const result = { result: 'success', resolvedIp: HOSTILE, error: null, screenshot: 'iVBORw0KGgo=' };
    const request = { options: { method: HOSTILE }, withheld: ['headers'] };
    const results = { [HOSTILE]: result };
    const emptyLocations = [HOSTILE];
    const check = {
      testId: HOSTILE,
      type: 'http',
      host: HOSTILE,
      emptyLocations,
      status: 'completed',
      request,
      results,
    };
    const finding = { code: 'screenshot_incomplete', severity: 'info', text: `The page is cut off. ${HOSTILE}` };
    const slow = { code: 'http_server_slow', severity: 'warning', text: `The answer took long. ${HOSTILE}` };
    const summary = { status: 'completed', verdict: 'up', headline: HOSTILE, findings: [slow, finding] };
    const difference = { subject: 'answers', certain: true, text: HOSTILE };
    const probes = { [HOSTILE]: { differences: [difference, { ...difference, certain: false }] } };
    const comparison = { result: 'different', sentence: HOSTILE, probes };
    server = createServer(({ method, url = '', headers }, response) => {
      authorizations.push(headers.authorization);
      paths.push(url);
      response.setHeader('Content-Type', 'application/json');
      if (method === 'POST') response.end(JSON.stringify({ checkId: HOSTILE, status: 'pending', message }));
      else if (url.includes('/compare/')) response.end(JSON.stringify(comparison));
      else if (url.includes('/summary')) response.end(JSON.stringify(summary));
      else if (url.includes('/results'))
        response.end(JSON.stringify({ ...check, results: { [HOSTILE]: { ...result, ...replaced } } }));
      else if (url.includes('/events') && isHeld) onHeld();
      else if (url.includes('/events')) {
        response.setHeader('Content-Type', 'text/event-stream');
        response.end(`id: 1\nevent: completed\ndata: ${JSON.stringify(check)}\n\n`);
      } else if (url === '/me') response.end(JSON.stringify({ ip: HOSTILE }));
      else if (url === '/probes') response.end('{}');
      else {
        response.writeHead(404, { 'Content-Type': 'application/problem+json' });
        response.end(JSON.stringify({ status: 404, detail: HOSTILE }));
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  async function written(
    words: readonly string[],
    given: { readonly key?: string; readonly signal?: AbortSignal } = {},
  ) {
    let [output, errors] = ['', ''];
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const status = await runCli(words, {
      config: { server: base, key: given.key, colors: false, isDumb: false },
      version: '0.0.0',
      output: { write: (text: string | Uint8Array) => ((output += String(text)), true) },
      errors: { write: (text: string | Uint8Array) => ((errors += String(text)), true) },
      signal: given.signal ?? new AbortController().signal,
    });
    return { status, output, errors };
  }

  it.each([
    ['a check', ['http', 'https://example.com']],
    ['a check as JSON', ['http', 'https://example.com', '--json']],
    ['a check again', ['show', HOSTILE]],
    ['a comparison', ['compare', HOSTILE, HOSTILE]],
    ['a comparison as JSON', ['compare', HOSTILE, HOSTILE, '--json']],
    ['the caller', ['me']],
    ['the caller as JSON', ['me', '--json']],
    ['a wrong word', ['me', HOSTILE]],
  ])('cannot command the terminal: %s', async (_reason, words) => {
    const { output, errors } = await written(words);

    expect(output + errors).toMatch(/owned/);
    expect(output + errors).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  it('sends the key of the flag, else that of the environment, with every request', async () => {
    const [ofFlag, ofEnvironment] = ['a', 'b'].map((letter) => `vtg_abcd1234_${letter.repeat(43)}`);
    authorizations.length = 0;

    await written(['http', 'https://example.com']);
    const without = authorizations.splice(0);
    await written(['http', 'https://example.com'], { key: ofEnvironment! });
    const fromEnvironment = authorizations.splice(0);
    await written(['me', '--key', ofFlag!], { key: ofEnvironment! });

    expect(new Set(without)).toEqual(new Set([undefined]));
    expect(fromEnvironment.length).toBe(without.length);
    expect(new Set(fromEnvironment)).toEqual(new Set([`Bearer ${ofEnvironment}`]));
    expect(authorizations).toEqual([`Bearer ${ofFlag}`]);
  });

  it('does not send or show what is no key', async () => {
    authorizations.length = 0;

    const { status, output, errors } = await written(['me'], { key: 'vtg_my-secret\r\nX: y' });

    expect([status, output, authorizations]).toEqual([2, '', []]);
    expect(errors).toMatch(/^invalid API key; expected vtg_/);
    expect(errors).not.toContain('my-secret');
  });

  it('has every finding of the summary, of the screenshot too', async () => {
    const { output } = await written(['http', 'https://example.com']);

    for (const text of ['The answer took long.', 'The page is cut off.']) expect(output).toContain(`  · ${text} `);
  });

  it('says what was asked of a check that is shown', async () => {
    const [shown, started] = [await written(['show', 'a']), await written(['http', 'https://example.com'])];

    expect(shown.output).toMatch(/^asked  http '.+' --method '.+'  \(not shown: headers\)\nNo probe at ".+"\n\n/);
    expect(started.output).not.toMatch(/asked|No probe at/);
  });

  it('is JSON and nothing else where that is asked for', async () => {
    const { output, errors, status } = await written(['http', 'https://example.com', '--json']);

    expect(JSON.parse(output)).toMatchObject({ testId: HOSTILE });
    expect([errors, status]).toEqual(['', 0]);
  });

  it('says which of the locations have no probe', async () => {
    message = `The http check runs from one probe; no probe at "${HOSTILE}" can run it.`;
    try {
      const { output, errors, status } = await written(['http', 'https://example.com', '--from', 'de,jp', '--json']);

      expect(errors).toMatch(/^The http check runs from one probe; no probe at ".+" can run it\.\n$/);
      expect(errors).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
      expect([JSON.parse(output), status]).toMatchObject([{ type: 'http' }, 0]);
    } finally {
      message = HOSTILE;
    }
  });

  it('has the differences of two checks, and says by its status that there are some', async () => {
    const { output, status } = await written(['compare', 'a', 'b']);

    expect(output).toMatch(/^different  .+\n\n.+  differs  .+\n +unsure   /);
    expect(status).toBe(1);
  });

  it.each([
    ['traceroute', 'The check goes on: vantage show '],
    ['mtr', 'It ends unless others follow it: vantage show '],
  ])('says after Ctrl-C what becomes of the check: %s', async (command, said) => {
    const interrupted = new AbortController();
    isHeld = true;
    onHeld = () => interrupted.abort();

    const { errors, status } = await written([command, 'example.com'], { signal: interrupted.signal });
    isHeld = false;

    expect(errors).toContain(said);
    expect(status).toBe(130);
  });

  it('is followed by a stream if it ends with one, for JSON too, and is there if none answers', async () => {
    const asked = async (words: readonly string[]): Promise<readonly string[]> => {
      paths.length = 0;
      expect((await written(words)).status).toBe(0);
      return paths.filter((path) => path.endsWith('/events'));
    };
    isHeld = true;
    const [mtr, csv, traceroute] = [
      await asked(['mtr', 'example.com', '--json']),
      await asked(['mtr', 'example.com', '--csv']),
      await asked(['traceroute', 'example.com', '--json']),
    ];
    isHeld = false;

    expect([mtr, csv, traceroute]).toEqual([[EVENTS], [EVENTS], []]);
  });

  it('is CSV without the screenshot', async () => {
    const { output } = await written(['http', 'https://example.com', '--csv']);

    expect(output).toMatch(/^checkId,type,host,probe,probeCountryCode,probeCity,probeAsNumber,probeIsp,result,rt,/);
    expect(output).not.toContain('iVBOR');
  });

  it('has the same columns as CSV whatever its results are, also when it is shown again', async () => {
    const heads: (string | undefined)[] = [];
    for (const outcome of [
      { timings: { total: 3 }, headers: { server: 'a' } },
      { result: 'error', error: { code: 'dns_timeout', phase: 'dns', source: 'resolver', message: 'x' } },
    ]) {
      replaced = outcome;
      for (const words of [
        ['http', 'https://example.com', '--csv'],
        ['show', HOSTILE, '--csv'],
      ]) {
        heads.push((await written(words)).output.split('\n')[0]);
      }
    }
    replaced = {};

    expect(heads[0]).toContain(',error.code,');
    expect(heads[0]).toMatch(/,headers,.*,timings\.total,/);
    expect(new Set(heads).size).toBe(1);
  });

  it('has the number of hops of a traceroute as CSV', async () => {
    replaced = { hops: [{ hop: 1 }, { hop: 2 }] };
    const { output } = await written(['traceroute', 'example.com', '--csv']);
    replaced = {};
    const [head, row] = output.split('\n').map((line) => line.split(','));

    expect(row![head!.indexOf('hopCount')]).toBe('2');
    expect(head).not.toContain('hops');
  });

  it.each([
    ['of a target that works', {}, 2],
    ['of a target that fails', { result: 'failure' }, 1],
  ])('does not end with status 0 without the screenshot %s', async (_name, outcome, expected) => {
    replaced = { ...outcome, screenshot: null };
    const file = join(folder, 'none.png');
    const { status, errors } = await written(['http', 'https://example.com', '--save-screenshot', file]);
    replaced = {};

    expect({ status, errors }).toEqual({ status: expected, errors: 'No probe took a screenshot.\n' });
    expect(existsSync(file)).toBe(false);
  });

  it('says that the screenshot cannot be written', async () => {
    const words = ['http', 'https://example.com', '--save-screenshot'];
    const kept = await written([...words, join(folder, 'picture.png')]);
    paths.length = 0;
    const lost = await written([...words, join(folder, 'missing', 'picture.png')]);
    const onFolder = await written([...words, folder]);

    expect([kept.status, kept.errors]).toEqual([0, '']);
    expect(lost.errors).toMatch(/^The screenshot cannot be written: ENOENT/);
    expect(onFolder.errors).toMatch(/^The screenshot cannot be written: .* is a folder/);
    expect([lost.status, onFolder.status]).toEqual([2, 2]);
    // No check was started.
    expect(paths).toEqual([]);
  });
});
