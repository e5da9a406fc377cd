import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';

import { eventually } from '../../test/eventually.ts';
import { createResults } from '../results.ts';
import { createGatewayWriter, type GatewayWriter } from './result-writer.ts';
import type { Session } from './session.ts';

type Sent = Parameters<Session['send']>[0];

/** A fake session that records the messages sent over it. */
function openSession(): Session & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  let seq = 0;
  return {
    sent,
    isOpen: () => true,
    send: (message) => void sent.push(message),
    sendPiece: () => undefined,
    nextSeq: () => (seq += 1),
    remote: () => ({ address: undefined, port: undefined }),
    close: () => undefined,
    terminate: () => undefined,
  };
}

function openResults(writer: GatewayWriter): { readonly results: ReturnType<typeof createResults>; lines: string[] } {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  return { results: createResults({ writer, now: () => 0, log }), lines };
}

describe('results over connections to gateways', () => {
  it('are sent again over the next one when theirs is lost, which is no rejection', async () => {
    const [first, second] = [openSession(), openSession()];
    let current = first;
    const writer = createGatewayWriter(() => current);
    const { results, lines } = openResults(writer);

    const written = results.final('check-a', '{}', 10_000);
    await eventually(() => (first.sent.length === 1 ? true : undefined));
    // The agent switches to another session before the connection of the silent one ends.
    current = second;
    writer.lost(first);
    await eventually(() => (second.sent.length === 1 ? true : undefined));
    writer.acknowledged(second, 1);
    await written;
    results.close();

    expect(second.sent).toEqual([{ t: 'result', seq: 1, check: 'check-a', kind: 'final', data: '{}' }]);
    expect(lines).toEqual([]);
  });

  it('that the gateway could not write are reported', async () => {
    const session = openSession();
    const writer = createGatewayWriter(() => session);
    const { results, lines } = openResults(writer);

    const written = results.final('check-a', '{}', 10_000);
    await eventually(() => (session.sent.length === 1 ? true : undefined));
    writer.refused(session, 1);
    await eventually(() => (session.sent.length === 2 ? true : undefined));
    writer.acknowledged(session, 2);
    await written;
    results.close();

    expect(lines.join('')).toContain('the gateway could not write it');
  });

  it('that are above the limit of a result are replaced by an error, and partial ones are not sent', async () => {
    const session = openSession();
    const writer = createGatewayWriter(() => session);
    const { results, lines } = openResults(writer);

    results.partial('check-a', 'x'.repeat(90_000), 10_000);
    void results.final('check-a', 'x'.repeat(90_000), 10_000);
    await eventually(() => (session.sent.length > 0 ? true : undefined));
    results.close();

    expect(session.sent).toMatchObject([{ seq: 1, check: 'check-a', kind: 'final' }]);
    expect(JSON.parse((session.sent[0] as { data: string }).data)).toMatchObject({
      result: 'error',
      error: { code: 'invalid_result', source: 'probe' },
    });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 50, check: 'check-a', bytes: 90_000, limit: 65_536, msg: 'result too large: replaced by an error' },
    ]);
  });
});
