import type { Check } from '@vantage/contract';

import type { AppOptions } from '../src/app.ts';
import type { AcceptedRequest, Checks, StartOptions } from '../src/checks/checks.ts';
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
    ...selectFor(async (request) => {
      created.push(request);
      return CHECK_ID;
    }),
    create: async () => {
      throw new Error('only monitors create checks without limits');
    },
    read: async (id) => stored.get(id),
    screenshot: async () => undefined,
    noteShed: () => undefined,
  };
}

/** Selects two probes for each request; `start` gives the id of a check that is admitted. */
export function selectFor(
  start: (request: AcceptedRequest, options: StartOptions) => Promise<string>,
): Pick<Checks, 'select'> {
  const probes = ['fra-1', 'nyc-1'];
  return {
    select: async (request) => ({
      created: undefined,
      checkId: CHECK_ID,
      probes,
      grant: undefined,
      start: async (options = {}) => {
        if ((await options.admission?.isAdmitted) === false) return undefined;
        return { created: true, checkId: await start(request, options), probes, withoutJob: 0 };
      },
    }),
  };
}
