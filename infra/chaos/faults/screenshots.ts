import type { Deployment } from '../deployment.ts';
import type { CheckToStart } from '../observer.ts';

/** Budget of the check: 15 s, and as much again for its screenshot. */
const PICTURE_BUDGET_MS = 30_000;

export function screenshotCheck({ targets }: Deployment): CheckToStart {
  const host = `http://127.0.0.1:${targets.httpPort}/`;
  return { body: { type: 'http', host, options: { screenshot: true } }, budgetMs: PICTURE_BUDGET_MS };
}

/** Why there is no browser to affect, or undefined. */
export async function noBrowser({ coordinators }: Deployment): Promise<string | undefined> {
  const probes = (await (await fetch(`${coordinators[0]!.url}/probes`)).json()) as Readonly<
    Record<string, { readonly capabilities: { readonly screenshot: boolean } | null }>
  >;
  const some = Object.values(probes).some(({ capabilities }) => capabilities?.screenshot === true);
  return some ? undefined : 'no agent takes screenshots here';
}
