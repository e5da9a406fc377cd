import type { AnyCheckType, MonitorRequest } from '@vantage/contract';

import type { AcceptedRequest } from '../src/checks/checks.ts';
import { readAlarm, readInterval, type ReadDefinition } from '../src/monitors/definition.ts';

/** A check type with a configurable budget, two measured fields and one field that the coordinator adds. */
export const echo: AnyCheckType = {
  type: 'echo',
  title: 'Echo',
  summary: 'For tests.',
  hostKind: 'host',
  purpose: 'tcp',
  fields: {},
  options: { budget: { type: 'integer', default: 5_000 } },
  result: {
    said: { type: 'string', maxLength: 100_000 },
    steps: { type: 'array', items: { type: 'integer' } },
    country: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  requiredOnSuccess: ['said'],
  needsRawSockets: false,
  traffic: () => ({ packets: 1, bytes: 1 }),
  budgetMs: ({ options }) => Number(options['budget']),
  annotate: (result, lookUp) => ({ ...result, country: lookUp('192.0.2.1').country }),
};

type EchoMonitor = Partial<AcceptedRequest> & { readonly budget?: number; readonly everyMs?: number };

/** Monitors of tests: echo checks, with an interval that may be shorter than the API allows. */
export const readEcho: ReadDefinition = (name, request) => {
  const { check, every, expect, alarm, webhooks } = request as MonitorRequest;
  const { budget = LONG_BUDGET_MS, everyMs, ...places } = check as EchoMonitor;
  const definition = {
    name,
    request: { check, every, expect, alarm, webhooks } as MonitorRequest,
    everyMs: everyMs ?? readInterval(every)!,
    expectation: expect ?? {},
    rule: readAlarm(alarm ?? {})!,
    accepted: {
      checkType: echo,
      submittedHost: 'target.example',
      limit: 10,
      params: { host: 'target.example', options: { budget } },
      ...places,
    },
  };
  return { valid: true, definition };
};

export const LONG_BUDGET_MS = 120_000;
