import { router, routers, silent, type Router, type Scenario, type Split, type Stage } from '../scenario.ts';

const split = (by: Split['by'], ...branches: readonly (readonly Stage[])[]): Split => ({ by, branches });
const equal = (by: Split['by'], ways: number, length: number, more: Router = {}): Split =>
  split(by, ...Array.from({ length: ways }, () => routers(length, more)));
const around = (...stages: readonly Stage[]): readonly Stage[] => [...routers(2), ...stages, ...routers(2)];

/** The scenario with one flow and with seven. */
function asked(name: string, path: readonly Stage[], more: Partial<Scenario> = {}): readonly Scenario[] {
  return [1, 7].map((flows) => ({ name: `${name}f${flows}`, path, options: { flows }, ...more }));
}

const lossFindings = ['path_loss', 'loss_at_target', 'rate_limited_hop', 'path_cut'] as const;
const isUnsteady = { truth: { isUnsteady: true } } as const;
const byLabel = { families: [6] } as const;

const half = {
  name: 'half',
  path: around(split('flow', routers(3), [...routers(2), router({ hole: true })])),
  options: { flows: 7 },
  truth: {
    finds: [{ code: 'flows_stop', hop: 5 }],
    verdicts: ['up', 'degraded'],
    pathMtu: null,
    pingMay: ['packet_loss', 'down_some', 'down_one_probe', 'down_everywhere'],
    pingVerdicts: ['up', 'degraded', 'partial', 'down'],
  },
} as const satisfies Scenario;

/** Scenarios in which the check searches all paths. */
const searched = (
  [
    { name: 'alleq2', path: around(equal('flow', 2, 3)) },
    { name: 'alleq8', path: around(equal('flow', 8, 2)) },
    { name: 'allrow', path: around(equal('flow', 2, 1), equal('flow', 2, 1)) },
    { name: 'alluneq', path: around(split('flow', routers(1), routers(4))) },
    { name: 'allsil', path: around(split('flow', routers(2, silent), routers(2))) },
    {
      name: 'allloss',
      path: around(equal('flow', 2, 2)).map((stage) => ({ ...stage, loss: 0.05 })),
      truth: { may: lossFindings, verdicts: ['up', 'degraded'] },
    },
    { name: 'alleach', path: around(equal('packet', 2, 2)), ...isUnsteady },
    { ...half, name: 'allhalf' },
    {
      ...half,
      name: 'allgone',
      path: around(split('flow', routers(3), [router({ hole: true, silent: true }), ...routers(2)])),
      truth: { ...half.truth, finds: [{ code: 'flows_stop', hop: 2 }] },
    },
  ] satisfies readonly Scenario[]
).map((scenario: Scenario): Scenario => ({ ...scenario, options: { flows: 'all' }, checks: ['icmp', 'udp', 'tcp'] }));

export const balance: readonly Scenario[] = [
  ...searched,
  ...asked('eq2', around(equal('flow', 2, 3))),
  ...asked('eq3', around(equal('flow', 3, 2))),
  ...asked('eq8', around(equal('flow', 8, 2))),
  { name: 'eq16f16', path: around(equal('flow', 16, 1)), options: { flows: 16, queries: 1 } },
  ...asked('eq2label', around(equal('label', 2, 3)), byLabel),
  { name: 'eq4labelf16', path: around(equal('label', 4, 2)), options: { flows: 16, queries: 1 }, ...byLabel },
  ...asked('eq2twice', around(equal('flow', 2, 2), router(), equal('flow', 2, 2))),
  ...asked('eq2row', around(equal('flow', 2, 1), equal('flow', 2, 1))),
  ...asked('eqnested', around(split('flow', [router(), equal('flow', 2, 2)], routers(3)))),
  ...asked('uneq', around(split('flow', routers(1), routers(2)))),
  ...asked('uneq4', around(split('flow', routers(1), routers(4)))),
  { name: 'uneqend', path: [...routers(2), split('flow', routers(1), routers(3))], options: { flows: 7 } },
  ...asked('eq2sil', around(split('flow', routers(2, silent), routers(2)))),
  {
    name: 'eq2slow',
    path: around(split('flow', routers(2, { delayMs: 100 }), routers(2))),
    options: { flows: 7 },
    // This balancer hashes the fields in which ping packets differ.
    truth: { pathMtu: null, pingMay: ['jitter_high', 'replies_odd'], pingVerdicts: ['up', 'degraded'] },
  },
  half,
  {
    // The ports, or the ICMP checksum, decide which probes send their only flow over the broken path.
    name: 'halff1',
    path: around(split('flow', routers(3), [...routers(2), router({ hole: true })])),
    checks: ['icmp', 'udp', 'tcp'],
    truth: { may: ['down_everywhere', { code: 'path_stops', hop: 5 }], verdicts: ['up', 'down'], pathMtu: null },
  },
  ...([2, 3, 4] as const).map((ways) => ({
    name: `each${ways}`,
    path: around(equal('packet', ways, 2)),
    ...isUnsteady,
  })),
  { name: 'each2uneq', path: around(split('packet', routers(1), routers(2))), ...isUnsteady },
  { name: 'each2f4', path: around(equal('packet', 2, 2)), options: { flows: 4 }, ...isUnsteady },
  {
    name: 'change20',
    path: routers(7),
    then: [{ after: 20, path: routers(7) }],
    truth: { isUnsteady: true, pathMtu: 1_500 },
  },
  { name: 'change9', path: routers(6), then: [{ after: 9, path: routers(6) }], ...isUnsteady },
  { name: 'longer12', path: routers(5), then: [{ after: 12, path: routers(6) }], ...isUnsteady },
  { name: 'shorter12', path: routers(6), then: [{ after: 12, path: routers(5) }], ...isUnsteady },
];
