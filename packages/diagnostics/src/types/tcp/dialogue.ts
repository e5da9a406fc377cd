import type { Socket } from 'node:net';

import type { Failure, ResultFieldsOf, Target } from '@vantage/contract';
import { RE2JS, type Matcher } from 're2js';

import type { DiagnosticContext } from '../../diagnostic.ts';
import type { Offer } from '../../tls/certificate/trust-store.ts';
import { handshakeBy } from '../../tls/handshake/handshake-by.ts';
import { tlsHandshake } from '../../tls/handshake/handshake.ts';
import { MAX_DIALOGUE_BYTES, type DialogueRules, type tcp } from './contract.ts';
import { streamLines, type LineStream } from './line-stream.ts';

type Fields = Pick<ResultFieldsOf<typeof tcp>, 'dialogue' | 'tls'>;

export interface DialogueEnd {
  readonly fields: Fields;
  /** Reason for which the dialogue was not completed; null if it was. */
  readonly failure: Failure | null;
}

/** Fields of a dialogue that was not begun. */
export const NO_STEPS: Fields = { dialogue: { steps: 0, unmatched: false } };

/** The dialogue of a module with its expressions compiled. */
export interface Dialogue extends Omit<DialogueRules, 'steps'> {
  readonly steps: readonly Step[];
}

type Step = Omit<DialogueRules['steps'][number], 'expect'> & { readonly expect: RE2JS | undefined };

export function compileDialogue(rules: DialogueRules): Dialogue | { readonly failure: Failure } {
  try {
    const compile = (text: string | undefined): RE2JS | undefined =>
      text === undefined ? undefined : RE2JS.compile(text);
    return { ...rules, steps: rules.steps.map(({ expect, ...step }) => ({ ...step, expect: compile(expect) })) };
  } catch {
    const message =
      'An expression of the module cannot be read; the release of the probe may be older than the coordinator’s.';
    return { failure: { code: 'invalid_job', phase: 'dispatch', source: 'probe', message } };
  }
}

export interface DialogueContext extends Pick<DiagnosticContext, 'signal' | 'certificateAuthorities' | 'trust'> {
  readonly offer: Offer;
  /** Publishes the fields known so far. */
  readonly onProgress: (fields: Fields) => void;
}

/**
 * Runs a module's dialogue (`tls` and `query_response`) over a connected socket, which it owns and closes. It sends the
 * module's text, with groups of lines received earlier from this target.
 */
export async function holdDialogue(
  connected: Socket,
  target: Target,
  dialogue: Dialogue,
  context: DialogueContext,
): Promise<DialogueEnd> {
  const { signal, offer, onProgress } = context;
  let fields: Fields = NO_STEPS;
  let socket = connected;
  let lines: LineStream | undefined;
  const startTls = async (): Promise<Failure | null> => {
    lines?.release();
    const options = { ...handshakeBy(dialogue.tlsOptions, target.host, context), alpn: [], offer };
    const handshake = await tlsHandshake(connected, options, signal);
    if (handshake.socket === null) return handshake.failure;
    socket = handshake.socket;
    fields = { ...fields, tls: handshake.fields.tls };
    return dialogue.tlsOptions.insecure ? null : handshake.distrust;
  };
  const hold = async (): Promise<Failure | null> => {
    const refusal = dialogue.tls ? await startTls() : null;
    if (refusal !== null) return refusal;
    onProgress(fields);
    lines = streamLines(socket, signal);
    const sent = { bytes: 0 };
    for (const [index, step] of dialogue.steps.entries()) {
      const { failure, unmatched } = await takeStep(step, lines, sent);
      fields = { ...fields, dialogue: { steps: index, unmatched } };
      if (failure !== null) return failure;
      if (step.startTls) {
        const refused = await startTls();
        if (refused !== null) return refused;
        lines = streamLines(socket, signal);
      }
      fields = { ...fields, dialogue: { steps: index + 1, unmatched } };
      onProgress(fields);
    }
    return null;
  };
  try {
    const failure = await hold();
    return { fields, failure };
  } finally {
    lines?.release();
    // With TLS this sends close_notify; that of the peer is not awaited.
    socket.end();
    setImmediate(() => {
      socket.destroy();
      connected.destroy();
    });
  }
}

interface Taken {
  readonly failure: Failure | null;
  readonly unmatched: boolean;
}

async function takeStep({ expect, send = '' }: Step, lines: LineStream, sent: { bytes: number }): Promise<Taken> {
  let text = Buffer.from(send);
  if (expect !== undefined) {
    const found = await matchLine(expect, lines);
    if ('failure' in found) return found;
    text = expand(send, found.matcher, found.line);
  }
  if (text.length === 0) return { failure: null, unmatched: false };
  sent.bytes += text.length + 1;
  if (sent.bytes > MAX_DIALOGUE_BYTES) return { failure: tooLong(), unmatched: false };
  return { failure: await lines.send(Buffer.concat([text, Buffer.from('\n')])), unmatched: false };
}

/** The first line that matches, or why there is none. */
async function matchLine(
  expect: RE2JS,
  lines: LineStream,
): Promise<Taken | { readonly matcher: Matcher; readonly line: Uint8Array }> {
  for (;;) {
    const line = await lines.next();
    if (line === null) return { failure: unmatched(expect), unmatched: true };
    if ('code' in line) return { failure: line, unmatched: false };
    const matcher = expect.matcher(line);
    if (matcher.find()) return { matcher, line };
  }
}

/** Expands `$1`, `${1}`, `$name`, `${name}` and `$$` like Go's `Regexp.Expand`; a group without a match is empty. */
function expand(template: string, matcher: Matcher, line: Uint8Array): Buffer<ArrayBuffer> {
  const names = matcher.pattern().namedGroups();
  const parts = template.split(/(\$\$|\$[\p{L}\p{Nd}_]+|\$\{[\p{L}\p{Nd}_]+\})/u).map((part, index) => {
    if (index % 2 === 0) return Buffer.from(part);
    if (part === '$$') return Buffer.from('$');
    const name = part.replaceAll(/[${}]/g, '');
    const group = /^(?:0|[1-9]\d{0,8})$/.test(name) ? Number(name) : Object.hasOwn(names, name) ? names[name]! : -1;
    if (group < 0 || group > matcher.groupCount() || matcher.start(group) < 0) return Buffer.alloc(0);
    return line.subarray(matcher.start(group), matcher.end(group));
  });
  return Buffer.concat(parts);
}

function unmatched(expect: RE2JS): Failure {
  const message = `The target ended the connection before a line matched ${expect.pattern()}.`;
  return { code: 'connection_closed', phase: 'response', source: 'target', message: message.slice(0, 1_024) };
}

function tooLong(): Failure {
  const message = `The lines to send have more than ${MAX_DIALOGUE_BYTES} bytes with what the target put into them.`;
  return { code: 'dialogue_too_large', phase: 'request', source: 'target', message };
}
