import type { TcpModule } from '../plan/module.ts';
import { addressSeries } from './address.ts';
import { certificateSeries } from './certificate.ts';
import { gauge, type Sample } from './families.ts';
import { reading, type Reading, type SparseResultOf } from './result.ts';

type Tcp = SparseResultOf<'tcp'>;

export function tcpReading(module: TcpModule, result: Tcp): Reading {
  const { state, error, dialogue } = result;
  return reading([
    state !== 'open' && (error?.message ?? 'There was no connection in time.'),
    state === 'open' && module.dialogue !== undefined && dialogueFault(module.dialogue, result),
    lacksDialogue(module, result) &&
      dialogue === undefined &&
      result.result !== 'pending' &&
      'The agent of this probe is too old for a module with tls or query_response.',
  ]);
}

function dialogueFault(
  { tls, steps }: NonNullable<TcpModule['dialogue']>,
  { result, error, dialogue }: Tcp,
): string | undefined {
  if (result === 'success' || dialogue === undefined) return undefined;
  const at = tls && dialogue.steps === 0 && error?.phase === 'tls' ? 'tls' : `query_response, entry ${dialogue.steps}`;
  const entry = steps[dialogue.steps];
  const expected = entry?.expect === undefined ? '' : `, expect ${JSON.stringify(entry.expect)}`;
  return `${error?.message ?? 'The dialogue did not come to its end in time.'} (${at}${expected})`;
}

/** True if the outcome of the dialogue is missing: with an older agent, or in a result that is pending. */
export function lacksDialogue(module: TcpModule, { state, dialogue }: Tcp): boolean {
  return module.dialogue !== undefined && state === 'open' && dialogue === undefined;
}

export function tcpSeries(module: TcpModule, result: Tcp, resolveMs: number | undefined): readonly Sample[] {
  const { tls, dialogue } = result;
  const { insecure } = module.tlsOptions;
  return [
    ...addressSeries(result.resolvedIp, resolveMs),
    gauge('probe_failed_due_to_regex', dialogue?.unmatched === true ? 1 : 0),
    // In Go, a handshake with an invalid certificate is a failure.
    ...(tls !== undefined && (insecure || tls.authorized) ? certificateSeries(tls, insecure) : []),
  ];
}
