import { router, routers, type Scenario } from '../scenario.ts';

const short = [0, 1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 19, 24, 28, 29].map((count) => ({
  name: `h${count + 1}`,
  path: routers(count),
}));

/** The target is beyond `maxHops`: its state is unknown, and nothing is wrong. */
const long = [30, 40, 62].map((count) => ({
  name: `h${count + 1}`,
  path: routers(count),
}));

const longAsked = [30, 40, 62].map((count) => ({
  name: `h${count + 1}max64`,
  path: routers(count),
  options: { maxHops: 64 },
}));

const few = [1, 3, 5].map((maxHops) => ({
  name: `max${maxHops}`,
  path: routers(6),
  options: { maxHops },
  checks: ['icmp', 'udp', 'tcp'] as const,
}));

const far = [50, 150, 300, 600, 900, 1_300, 2_100, 2_500, 2_900, 3_500].map((rttMs) => ({
  name: `r${rttMs}`,
  path: routers(5),
  target: { delayMs: rttMs / 2 },
}));

/** A long link in the middle: everything beyond it is slow. */
const distant = [80, 300, 600, 1_200, 2_200].map((rttMs) => ({
  name: `sat${rttMs}`,
  path: [...routers(3), router({ delayMs: rttMs / 2 }), ...routers(3)],
}));

/** Routers that answer slowly but forward at once. */
const slow = [300, 900, 1_500].flatMap((answerDelayMs) => [
  { name: `slowhop${answerDelayMs}`, path: [...routers(3), router({ answerDelayMs }), ...routers(3)] },
  { name: `slowhops${answerDelayMs}`, path: [...routers(2), ...routers(3, { answerDelayMs }), ...routers(2)] },
]);

const uneven: readonly Scenario[] = [
  { name: 'jitter20', path: routers(6, { jitterMs: 3 }), target: { jitterMs: 8 } },
  {
    name: 'jitter200',
    path: [...routers(3), router({ jitterMs: 100 }), ...routers(3)],
    truth: { may: ['latency_outlier'], pingMay: ['jitter_high', 'replies_odd'], pingVerdicts: ['up', 'degraded'] },
  },
  { name: 'slowfirst', path: [router({ delayMs: 200 }), ...routers(5)] },
  { name: 'sloweverywhere', path: routers(8, { delayMs: 40 }) },
  { name: 'slowtargetanswer', path: routers(5), target: { answerDelayMs: 700 } },
];

export const lengths: readonly Scenario[] = [
  ...short,
  ...long,
  ...longAsked,
  ...few,
  ...far,
  ...distant,
  ...slow,
  ...uneven,
];
