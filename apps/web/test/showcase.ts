import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Agent, Agents, Check, Me, Probes, Summary } from '@vantage/contract';
import { compareChecks, summarize } from '@vantage/summary';

import { openPage } from '../serve/index.ts';
import { world, worldChecks } from './world.ts';

/** A fake service behind the page, for states that a real one reaches only by chance. */
export interface Showcase {
  readonly url: string;
  readonly checks: Map<string, Check>;
  /** Responses of `POST /check` in turn; default: the first of `checks`. */
  readonly answers: ShowcaseAnswer[];
  /** Bodies of `POST /check`. */
  readonly posted: unknown[];
  /** Sends a new state of a check to its followers. */
  readonly show: (check: Check) => void;
  /** Requested paths. */
  readonly asked: string[];
  readonly close: () => void;
}

export interface ShowcaseAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ShowcaseOptions {
  readonly probes?: Probes;
  /** Path of the base URL: empty, or `/net`. */
  readonly basePath?: string;
  readonly port?: number;
  readonly checks?: readonly Check[];
  readonly me?: Partial<Me>;
  readonly picture?: Buffer;
  /** Called before each response; may delay it, or send one and return true. */
  readonly before?: (path: string, response: ServerResponse) => Promise<boolean>;
}

const me: Me = {
  ip: '203.0.113.77',
  hostname: 'host-77.example.net',
  hostnameVerified: true,
  ipv4: '203.0.113.77',
  ipv6: null,
  city: 'Berlin',
  region: null,
  country: 'Germany',
  countryCode: 'DE',
  country_code: 'DE',
  timezone: 'Europe/Berlin',
  isp: 'Example Access',
  asn: 'AS64496',
  as: 'AS64496',
  org: 'Example Access',
  provider: null,
};

/** A 1 × 1 PNG. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

export async function startShowcase(options: ShowcaseOptions = {}): Promise<Showcase> {
  const { probes = world, basePath = '', picture = pixel } = options;
  const checks = new Map((options.checks ?? worldChecks).map((check) => [check.testId, check]));
  const followers = new Map<string, Set<ServerResponse>>();
  const answers: ShowcaseAnswer[] = [];
  const posted: unknown[] = [];
  const asked: string[] = [];
  const server = createServer((request, response) => void handle(request, response));
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`;
  const page = openPage(url);
  if (page === undefined)
    throw new Error('The page has not been built: node --conditions=vantage-source apps/web/build/main.ts');

  return {
    url,
    checks,
    answers,
    posted,
    asked,
    show: (check) => {
      const before = checks.get(check.testId);
      checks.set(check.testId, check);
      for (const response of followers.get(check.testId) ?? []) tell(response, check, before);
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, url);
    const path = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : '';
    asked.push(path);
    if ((await options.before?.(path, response)) === true) return;
    const headers = {
      acceptEncoding: request.headers['accept-encoding'],
      ifNoneMatch: request.headers['if-none-match'],
    };
    if (page!.files.includes(path)) return sendPage(response, page!.file(path, headers));
    if (path === '/' || path === '/status' || /^\/m(?:\/|$)/.test(path))
      return sendPage(response, page!.document(headers));
    if (/^\/c\/[^/]+\/compare\//.test(path)) return sendPage(response, page!.document(headers));
    if (path.startsWith('/c/')) return sendPage(response, page!.document(headers, path.slice(3)));
    if (path === '/probes') return sendJson(response, 200, probes);
    if (path === '/probes/agents') return sendJson(response, 200, agentsOf(probes));
    if (path === '/me') return sendJson(response, 200, { ...me, ...options.me });
    if (path === '/check' && request.method === 'POST') return start(request, response);
    const [, a, b] = /^\/check\/([^/]+)\/compare\/([^/]+)$/.exec(path) ?? [];
    if (a !== undefined && b !== undefined) return compare(response, checks.get(a), checks.get(b));
    const [, id = '', what = ''] = /^\/check\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    const check = checks.get(id);
    if (check === undefined) return sendJson(response, 404, problem(404, 'There is no such check.'));
    if (what === 'results') return sendJson(response, 200, check);
    if (what === 'summary') return sendJson(response, 200, summaryOf(check, probes));
    if (what === 'screenshot') return void response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
    return follow(check, response);
  }

  function compare(response: ServerResponse, a: Check | undefined, b: Check | undefined): void {
    if (a === undefined || b === undefined) return sendJson(response, 404, problem(404, 'There is no such check.'));
    const [first, second] = [a, b].map((check) => ({ check, summary: summaryOf(check, probes) }));
    return sendJson(response, 200, compareChecks(first!, second!));
  }

  async function start(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    posted.push(JSON.parse(text));
    const answer = answers.shift();
    if (answer !== undefined) return sendJson(response, answer.status, answer.body, answer.headers);
    const [first] = checks.keys();
    return sendJson(response, 202, { checkId: first, status: 'pending', message: 'The check runs.' });
  }

  function follow(check: Check, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    tell(response, check, undefined);
    const all = followers.get(check.testId) ?? new Set();
    followers.set(check.testId, all.add(response));
    response.once('close', () => all.delete(response));
  }
}

/** One agent over each transport, and one that waits. */
function agentsOf(probes: Probes): Agents {
  return Object.fromEntries(
    Object.entries(probes).map(([id, { version, status }], index): [string, Agent] => [
      id,
      {
        transport: index % 2 === 0 ? 'gateway' : 'redis',
        version,
        state: status === 'offline' ? 'waiting' : 'connected',
        reason: null,
      },
    ]),
  );
}

export function summaryOf(check: Check, probes: Probes): Summary {
  return summarize(check, new Map(Object.entries(probes)));
}

/** @param before the state sent last: only changes are sent */
function tell(response: ServerResponse, check: Check, before: Check | undefined): void {
  if (check.status === 'completed') {
    response.end(`id: 1000\nevent: completed\ndata: ${JSON.stringify(check)}\n\n`);
    return;
  }
  for (const [probe, result] of Object.entries(check.results)) {
    if (before !== undefined && JSON.stringify(before.results[probe]) === JSON.stringify(result)) continue;
    response.write(`id: 1\nevent: probe\ndata: ${JSON.stringify({ probe, result })}\n\n`);
  }
}

export function problem(status: number, detail: string, errors?: readonly unknown[]): Record<string, unknown> {
  return {
    type: 'https://vantage.example/problems/x',
    title: 'Problem',
    status,
    detail,
    instance: '/check',
    requestId: 'r',
    ...(errors === undefined ? {} : { errors }),
  };
}

function sendPage(
  response: ServerResponse,
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer },
): void {
  response.writeHead(answer.status, answer.headers).end(answer.body);
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(body));
}
