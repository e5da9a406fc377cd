import type { Config } from '../../config/config.ts';
import { warning, type DoctorFinding } from './finding.ts';

/** Limits per minute from which there is a warning, far above the defaults of 20 and 1,200. */
const BOUNDS = { check: 10_000, target: 100_000 };

type Limits = Pick<Config, 'rateLimitCreateCheck' | 'targetLimit'>;

/** Warns of rate limits so high that one client can occupy all probes, or clients can flood a target. */
export function checkLimits({ rateLimitCreateCheck, targetLimit }: Limits): readonly DoctorFinding[] {
  const remedy = 'Lower it; a client that needs more gets an API key with a separate limit (docs/keys.md).';
  return [
    ...(rateLimitCreateCheck < BOUNDS.check
      ? []
      : [
          warning(
            'limits',
            `RATE_LIMIT_CHECK is ${rateLimitCreateCheck} requests a minute: one client can occupy all probes.`,
            remedy,
          ),
        ]),
    ...(targetLimit < BOUNDS.target
      ? []
      : [
          warning(
            'limits',
            `RATE_LIMIT_TARGET is ${targetLimit} a minute: clients can use the probes to flood a target.`,
            'Lower it.',
          ),
        ]),
  ];
}
