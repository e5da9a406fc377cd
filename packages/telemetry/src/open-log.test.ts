import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

import { describe, expect, it } from '@jest/globals';

/** Runs a program that logs, and returns its lines. */
async function logged(source: string): Promise<string> {
  const module = new URL('open-log.ts', import.meta.url).href;
  const program = `
    const { openLog } = await import(${JSON.stringify(module)});
    const { log } = openLog({ base: {} });
    const refusal = (message, command) => Object.assign(new Error(message), { command });
    ${source}`;
  const child = spawn(process.execPath, ['--conditions=vantage-source', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return text(child.stdout);
}

describe('a logged error of Redis', () => {
  it.each([
    ['itself', 'log.error({ err: refusal("WRONGPASS", { name: "auth", args: ["probe-a", "secret"] }) })'],
    [
      'the last one of a cluster',
      'log.error({ err: Object.assign(new Error("all failed"), { lastNodeError: refusal("WRONGPASS", { name: "auth", args: ["secret"] }) }) })',
    ],
    [
      'one of several',
      'log.error({ err: new AggregateError([refusal("WRONGPASS", { name: "auth", args: ["secret"] })], "failed") })',
    ],
    ['of a child', 'log.child({}).warn({ err: refusal("WRONGPASS", { name: "auth", args: ["secret"] }) })'],
  ])('has the name of the command and none of its arguments, such as a password: %s', async (_which, source) => {
    const line = await logged(source);

    expect(line).toContain('WRONGPASS');
    expect(line).toContain('"command":"auth"');
    expect(line).not.toContain('secret');
  });

  it('keeps the other fields of an error', async () => {
    const line = await logged(
      'log.error({ err: Object.assign(new Error("no"), { code: "ECONNRESET", syscall: "read" }) })',
    );

    expect(JSON.parse(line)).toMatchObject({
      err: { type: 'Error', message: 'no', code: 'ECONNRESET', syscall: 'read' },
    });
  });
});
