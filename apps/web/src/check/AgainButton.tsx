import { endingWithStream } from '@vantage/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { serviceNow } from '../clock/service-clock.ts';
import { faultText } from '../faults.ts';
import { Icon } from '../parts/icons.tsx';
import { useRouter } from '../parts/router.tsx';
import { remember } from '../recent.ts';
import { requestOf, requestFieldsOf, restrictionOf } from './request.ts';
import type { CheckData } from './use-check.ts';

const REQUEST_TIMEOUT_MS = 15_000;

/**
 * Runs the request once more from the same probes, as far as this browser knows the request, and compares the two
 * checks.
 */
export function AgainButton({ check }: { readonly check: CheckData }): JSX.Element {
  const { go, service } = useRouter();
  const [fault, setFault] = useState('');
  const [isStarting, setStarting] = useState(false);
  const restriction = restrictionOf(check);
  const start = async (): Promise<void> => {
    setStarting(true);
    setFault('');
    try {
      const request = againOf(check);
      const followed = endingWithStream(request) as Parameters<typeof service.client.startCheck>[0];
      const { checkId } = await service.client.startCheck(followed, {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      remember({ id: checkId, type: check.type, host: check.host, at: new Date(serviceNow()).toISOString(), request });
      go(
        `/c/${check.testId}/compare/${checkId}${check.request === undefined && restriction !== undefined ? '?options=default' : ''}`,
      );
    } catch (error) {
      setFault(faultText(error));
    } finally {
      setStarting(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class="quiet"
        disabled={isStarting}
        title={
          restriction === undefined
            ? 'Run it again and compare'
            : `Run it again and compare, ${restriction}: they are known only where it was started`
        }
        onClick={() => void start()}
      >
        <Icon name="repeat" />
        {restriction === undefined ? 'Again' : `Again ${restriction}`}
      </button>
      <span class="note" role="status">
        {fault}
      </span>
    </>
  );
}

/**
 * The request that repeats a check, as far as this browser knows its options, with the same probes or the same pair.
 */
export function againOf(check: CheckData): Readonly<Record<string, unknown>> & { readonly type: string } {
  const { locations: _locations, limit: _limit, ...asked } = requestFieldsOf(requestOf(check));
  if (check.between !== undefined) {
    const { host: _host, probes: _probes, ...options } = asked;
    return { ...options, type: check.type, between: check.between };
  }
  return { ...asked, type: check.type, host: check.host, probes: Object.keys(check.results) };
}
