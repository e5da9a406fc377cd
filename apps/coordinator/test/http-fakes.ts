import type { Check } from '@vantage/contract';

import type { AppOptions } from '../src/app.ts';
import type { AcceptedRequest, Checks } from '../src/checks/checks.ts';
import type { EvaluateTarget } from '../src/http/requests/accept-request.ts';

export const CHECK_ID = 'qPUXvL1sQx2rGJm0Zf7N4w';

/** Fake policy: names that end in `.invalid` are malformed, 10.* is refused, and other targets become lower case. */
export const fakeEvaluateTarget: EvaluateTarget = ({ host: target, hostKind }) => {
  const host = hostKind === 'url' && URL.canParse(target) ? new URL(target).hostname : target;
  if (host.endsWith('.invalid')) return { verdict: 'malformed', message: 'The host has an odd form.' };
  if (host.startsWith('10.')) return { verdict: 'refused', message: `${host} is in 10.0.0.0/8 (Private-Use).` };
  return { verdict: 'accepted', host: target.toLowerCase() };
};

export const highLimits = {
  createCheck: 1e6,
  readCheck: 1e6,
  followCheck: 1e6,
  showScreenshot: 1e6,
  showSummary: 1e6,
  listProbes: 1e6,
  readMonitors: 1e6,
  showCaller: 1e6,
  scrape: 1e6,
};

export const highTargetLimits = { target: 1e6, targetPorts: 1e6, clientTargets: 1e6, costs: new Map<string, number>() };

export const noMonitors: AppOptions['monitors'] = {
  list: async () => ({}),
  read: async () => undefined,
  metrics: async () => '',
  follow: () => () => undefined,
  eventsAfter: async () => undefined,
  put: async () => ({ outcome: 'full' }),
  remove: async () => 'absent',
  fileFault: () => undefined,
};

export function stubChecks(created: AcceptedRequest[], stored: ReadonlyMap<string, Check>): Checks {
  return {
    create: async (request, admit) => {
      if (admit !== undefined && !(await admit(2))) return { created: false, reason: 'not-admitted' };
      created.push(request);
      return { created: true, checkId: CHECK_ID, probes: ['fra-1', 'nyc-1'], withoutJob: 0 };
    },
    read: async (id) => stored.get(id),
    screenshot: async () => undefined,
    noteShed: () => undefined,
  };
}
