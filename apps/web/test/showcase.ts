import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Check, Me, Probes } from '@vantage/contract';
import { compareChecks } from '@vantage/summary';

import { openPage, type Page, type PageAnswer } from '../serve/index.ts';
import { world, worldChecks } from './world.ts';
import { me, pixel, agentsOf, summaryOf, tell, problem, sendPage, sendJson } from './showcase-answers.ts';

/** A fake service behind the page, for states that are hard to cause in a real one. */
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
  /** Makes it the showcase that `startShowcase` makes, at the same URL, so that browsers keep the files of the page. */
  readonly reset: (options?: ShowcaseState) => void;
  readonly close: () => void;
}

export interface ShowcaseAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ShowcaseOptions extends ShowcaseState {
  /** Path prefix of the base URL, such as `/net`; empty by default. */
  readonly basePath?: string;
  readonly port?: number;
}

export interface ShowcaseState {
  readonly probes?: Probes;
  readonly checks?: readonly Check[];
  readonly me?: Partial<Me>;
  readonly picture?: Buffer;
  /** Called before each response; may delay it. If it returns true, the showcase sends nothing more. */
  readonly before?: (path: string, response: ServerResponse) => Promise<boolean>;
}

export async function startShowcase(options: ShowcaseOptions = {}): Promise<Showcase> {
  const server = createServer();
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${options.basePath ?? ''}`;
  const page = openPage(url);
  if (page === undefined)
    throw new Error('The page has not been built: node --conditions=vantage-source apps/web/build/main.ts');
  return new FakeService(url, server, page, options);
}

class FakeService implements Showcase {
  readonly url: string;
  readonly checks = new Map<string, Check>();
  readonly answers: ShowcaseAnswer[] = [];
  readonly posted: unknown[] = [];
  readonly asked: string[] = [];
  private readonly server: Server;
  private readonly page: Page;
  private readonly basePath: string;
  private options: ShowcaseState = {};
  private probes: Probes = world;
  private readonly followers = new Map<string, Set<ServerResponse>>();

  constructor(url: string, server: Server, page: Page, { basePath = '', ...options }: ShowcaseOptions) {
    this.url = url;
    this.server = server;
    this.page = page;
    this.basePath = basePath;
    this.reset(options);
    server.on('request', (request, response) => void this.handle(request, response));
  }

  readonly reset = (options: ShowcaseState = {}): void => {
    this.options = options;
    this.probes = options.probes ?? world;
    this.checks.clear();
    for (const check of options.checks ?? worldChecks) this.checks.set(check.testId, check);
    for (const list of [this.answers, this.posted, this.asked]) list.length = 0;
  };

  readonly show = (check: Check): void => {
    const before = this.checks.get(check.testId);
    this.checks.set(check.testId, check);
    for (const response of this.followers.get(check.testId) ?? []) tell(response, check, before);
  };

  readonly close = (): void => {
    this.server.closeAllConnections();
    this.server.close();
  };

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { basePath, options } = this;
    const { pathname } = new URL(request.url!, this.url);
    const path = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : '';
    this.asked.push(path);
    // Without this header, browsers cache some answers, such as 410.
    response.setHeader('cache-control', 'no-store');
    if ((await options.before?.(path, response)) === true) return;
    const file = this.pageAt(path, request);
    if (file !== undefined) return sendPage(response, file);
    if (path === '/probes') return sendJson(response, 200, this.probes);
    if (path === '/probes/agents') return sendJson(response, 200, agentsOf(this.probes));
    if (path === '/me') return sendJson(response, 200, { ...me, ...this.options.me });
    if (path === '/check' && request.method === 'POST') return this.start(request, response);
    const [, a, b] = /^\/check\/([^/]+)\/compare\/([^/]+)$/.exec(path) ?? [];
    if (a !== undefined && b !== undefined) return this.compare(response, this.checks.get(a), this.checks.get(b));
    const [, id = '', what = ''] = /^\/check\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    return this.showCheck(response, this.checks.get(id), what);
  }

  private pageAt(path: string, request: IncomingMessage): PageAnswer | undefined {
    const headers = {
      acceptEncoding: request.headers['accept-encoding'],
      ifNoneMatch: request.headers['if-none-match'],
    };
    if (this.page.files.includes(path)) return this.page.file(path, headers);
    if (path === '/' || path === '/status' || /^\/m(?:\/|$)/.test(path)) return this.page.document(headers);
    if (/^\/c\/[^/]+\/compare\//.test(path)) return this.page.document(headers);
    return path.startsWith('/c/') ? this.page.document(headers, path.slice(3)) : undefined;
  }

  private showCheck(response: ServerResponse, check: Check | undefined, what: string): void {
    if (check === undefined) return sendJson(response, 404, problem(404, 'There is no such check.'));
    if (what === 'results') return sendJson(response, 200, check);
    if (what === 'summary') return sendJson(response, 200, summaryOf(check, this.probes));
    if (what === 'screenshot') {
      return void response.writeHead(200, { 'content-type': 'image/png' }).end(this.options.picture ?? pixel);
    }
    return this.follow(check, response);
  }

  private compare(response: ServerResponse, a: Check | undefined, b: Check | undefined): void {
    if (a === undefined || b === undefined) return sendJson(response, 404, problem(404, 'There is no such check.'));
    const [first, second] = [a, b].map((check) => ({ check, summary: summaryOf(check, this.probes) }));
    return sendJson(response, 200, compareChecks(first!, second!));
  }

  private async start(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    this.posted.push(JSON.parse(text));
    const answer = this.answers.shift();
    if (answer !== undefined) return sendJson(response, answer.status, answer.body, answer.headers);
    const [first] = this.checks.keys();
    return sendJson(response, 202, { checkId: first, status: 'pending', message: 'The check runs.' });
  }

  private follow(check: Check, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    tell(response, check, undefined);
    const all = this.followers.get(check.testId) ?? new Set();
    this.followers.set(check.testId, all.add(response));
    response.once('close', () => all.delete(response));
  }
}
