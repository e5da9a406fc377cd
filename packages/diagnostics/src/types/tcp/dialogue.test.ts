import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { resultSchema } from '@vantage/contract';
import { testContext } from '@vantage/test-support/context';
import { Value } from 'typebox/value';

import { MAX_DIALOGUE_BYTES, tcp, type DialogueRules } from './contract.ts';
import { runTcp } from './run.ts';

const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

type Step = DialogueRules['steps'][number];

interface Seen {
  readonly port: number;
  /** All bytes that a client sent until its connection ended. */
  readonly received: Promise<string>;
}

async function listen(speak: (socket: Socket) => void): Promise<Seen> {
  const received = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined).on('data', (bytes) => (text += bytes.toString('latin1')));
    socket.on('close', () => received.resolve(text));
    speak(socket);
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, received: received.promise };
}

function params(port: number, steps: readonly Partial<Step>[], tls = false) {
  const dialogue: DialogueRules = {
    timeoutMs: 30_000,
    tls,
    steps: steps.map((step) => ({ startTls: false, ...step })),
    tlsOptions: { insecure: true, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
  };
  return { host: '127.0.0.1', port, options: { attempts: 1 }, rules: { dialogue } };
}

const problemsOf = (outcome: object): unknown[] => {
  const now = new Date().toISOString();
  return [...Value.Errors(resultSchema(tcp), { ...outcome, startedAt: now, finishedAt: now })];
};

describe('the dialogue of a module', () => {
  it('sends its lines with groups of the lines of the target, and ends the connection', async () => {
    const { port, received } = await listen((socket) => socket.write('noise\nid=7 name=h\u00fcllo\r\nmore\r\n'));

    const outcome = await runTcp(
      params(port, [
        { expect: String.raw`^id=(\d) name=(?P<who>\S+)(x)?`, send: '$who ${1} $1a ${3}$9$$ $- ${who' },
        { send: 'bye\r' },
      ]),
      testContext(),
    );

    expect(outcome).toMatchObject({ result: 'success', state: 'open', dialogue: { steps: 2, unmatched: false } });
    expect(problemsOf(outcome)).toEqual([]);
    expect(Buffer.from(await received, 'latin1').toString()).toBe('h\u00fcllo 7  $ $- ${who\nbye\r\n');
  });

  it('fails if the target ends the connection before a line matches, and sends nothing more', async () => {
    const { port, received } = await listen((socket) => socket.end('554 no'));

    const outcome = await runTcp(params(port, [{ expect: '^220', send: 'hello' }]), testContext());

    expect(outcome).toMatchObject({ result: 'failure', state: 'open', dialogue: { steps: 0, unmatched: true } });
    expect(outcome.error).toMatchObject({ code: 'connection_closed', phase: 'response', source: 'target' });
    expect(problemsOf(outcome)).toEqual([]);
    expect(await received).toBe('');
  });

  it('takes a last line that has no end', async () => {
    const { port } = await listen((socket) => socket.end('220 hello'));
    expect(await runTcp(params(port, [{ expect: 'hello$' }]), testContext())).toMatchObject({ result: 'success' });
  });

  it('ends at the deadline if the target says nothing', async () => {
    const { port, received } = await listen(() => undefined);
    const deadline = new AbortController();
    const emitPartial = ({ dialogue }: { readonly dialogue?: unknown }): void => {
      if (dialogue !== undefined) setImmediate(() => deadline.abort());
    };

    const outcome = await runTcp(
      params(port, [{ expect: '^220' }]),
      testContext<typeof tcp>({ signal: deadline.signal, emitPartial }),
    );

    expect(outcome).toMatchObject({ result: 'timeout', state: 'open', error: { code: 'timed_out' } });
    expect(outcome.dialogue).toEqual({ steps: 0, unmatched: false });
    expect(await received).toBe('');
  });

  it('reads no more than its bound, with an end or without', async () => {
    for (const text of ['x'.repeat(1_000), `${'x'.repeat(99)}\n`.repeat(10)]) {
      let sent = 0;
      const { port, received } = await listen((socket) => {
        const more = (): void => {
          if (!socket.destroyed) socket.write(text, () => ((sent += text.length), more()));
        };
        more();
      });

      const outcome = await runTcp(params(port, [{ expect: 'never' }]), testContext());
      await received;

      expect(outcome).toMatchObject({ result: 'failure', dialogue: { steps: 0, unmatched: false } });
      const message = `The target sent more than ${MAX_DIALOGUE_BYTES} bytes.`;
      expect(outcome.error).toMatchObject({ code: 'dialogue_too_large', phase: 'response', message });
      expect(sent).toBeGreaterThan(MAX_DIALOGUE_BYTES);
    }
  });

  it('sends no more than its bound, whatever the target puts into the lines', async () => {
    const { port, received } = await listen((socket) => socket.write(`${'x'.repeat(10_000)}\n`));

    const outcome = await runTcp(params(port, [{ expect: '(.*)', send: '$1 '.repeat(300) }]), testContext());

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'dialogue_too_large', phase: 'request' } });
    expect(await received).toBe('');
  });

  it('drops lines that came before TLS was agreed on: they are not part of it', async () => {
    const { port, received } = await listen((socket) => socket.write('220 go\r\n250 injected\r\n'));

    const outcome = await runTcp(
      params(port, [{ expect: '^220', startTls: true }, { expect: '^250' }]),
      testContext({ budgetMs: 1_000 }),
    );

    expect(outcome).toMatchObject({ dialogue: { steps: 0, unmatched: false }, error: { phase: 'tls' } });
    expect(outcome.tls).toBeUndefined();
    // 0x16 begins a TLS record of a handshake.
    expect((await received).charCodeAt(0)).toBe(0x16);
  });

  it('is not begun with a target that the policy refuses', async () => {
    let connections = 0;
    const { port } = await listen(() => (connections += 1));
    const asked = { ...params(port, [{ send: 'hello' }]), host: 'forbidden.test' };

    const outcome = await runTcp(asked, testContext({ refused: ['forbidden.test'] }));

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' } });
    expect(connections).toBe(0);
  });

  it('is not begun with an expression that cannot be read', async () => {
    let connections = 0;
    const { port } = await listen(() => (connections += 1));

    const outcome = await runTcp(params(port, [{ send: 'hello' }, { expect: '(' }]), testContext());

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'invalid_job' } });
    expect(connections).toBe(0);
  });

  it('is counted by the limits, and has the time of the scrape', () => {
    const plain = { host: 'a.example', port: 1, options: { attempts: 1 } };
    expect(tcp.traffic(params(1, [])).bytes).toBeGreaterThan(tcp.traffic(plain).bytes + 2 * MAX_DIALOGUE_BYTES);
    // Ten SYNs in 60 s, an ACK and a RST.
    const patient = { ...plain, rules: { timeoutMs: 60_000 } };
    expect([plain, patient].map((asked) => tcp.traffic(asked).packets)).toEqual([5, 12]);
    expect(tcp.budgetMs(plain)).toBe(5_000);
    expect(tcp.budgetMs(params(1, []))).toBe(30_000);
  });
});
