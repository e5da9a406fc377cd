import type { ServerResponse } from 'node:http';

import type { Agent, Agents, Check, Me, Probes, Summary } from '@vantage/contract';
import { summarize } from '@vantage/summary';

export const me: Me = {
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
export const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** The agent of each probe, over gateway and Redis in turn; that of an offline probe waits for approval. */
export function agentsOf(probes: Probes): Agents {
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
export function tell(response: ServerResponse, check: Check, before: Check | undefined): void {
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

export function sendPage(
  response: ServerResponse,
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer },
): void {
  response.writeHead(answer.status, answer.headers).end(answer.body);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(body));
}
