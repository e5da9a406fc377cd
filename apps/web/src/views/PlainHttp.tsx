import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { CheckData } from '../check/use-check.ts';
import { serviceNow } from '../clock/service-clock.ts';
import { faultText } from '../faults.ts';
import { useRouter } from '../parts/router.tsx';
import { remember } from '../recent.ts';

const REQUEST_TIMEOUT_MS = 15_000;

/** The URL with http that a probe names because the server did not answer in TLS; undefined if none does. */
export function plainUrlOf({ results }: CheckData): string | undefined {
  for (const { error } of Object.values(results)) {
    const [, url] = /, its URL is (http:\/\/\S+)\.$/.exec(error?.message ?? '') ?? [];
    if (error?.code === 'tls_handshake_failed' && url !== undefined) return url;
  }
  return undefined;
}

/** A button that checks the URL with http from the same probes, with the default options. */
export function PlainHttp({ check, url }: { readonly check: CheckData; readonly url: string }): JSX.Element {
  const { go, service } = useRouter();
  const [fault, setFault] = useState('');
  const [isStarting, setStarting] = useState(false);
  const start = async (): Promise<void> => {
    setStarting(true);
    setFault('');
    try {
      const request = { type: 'http' as const, host: url, probes: Object.keys(check.results) };
      const { checkId } = await service.client.startCheck(request, {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      remember({ id: checkId, type: 'http', host: url, at: new Date(serviceNow()).toISOString(), request });
      go(`/c/${checkId}`);
    } catch (error) {
      setFault(faultText(error));
    } finally {
      setStarting(false);
    }
  };
  return (
    <p class="fixes">
      The server may speak HTTP without TLS:{' '}
      <button type="button" class="quiet" disabled={isStarting} onClick={() => void start()}>
        Check {url}
      </button>{' '}
      <span class="note" role="status">
        {fault}
      </span>
    </p>
  );
}
