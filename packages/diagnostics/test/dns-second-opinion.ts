import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A program's interpretation of an answer. */
export interface Says {
  /**
   * The rcode, the numbers of answers and of records in the authority section, and the addresses; `nothing` if there
   * was no answer.
   */
  readonly message: string;
  readonly warnings: readonly string[];
}

/** Queries a server with `dig`. */
export async function digSays(port: number, name: string, type: string, ...flags: readonly string[]): Promise<Says> {
  const common = ['@127.0.0.1', '-p', String(port), '+nocookie', '+bufsize=1232', '+tries=1', '+time=30'];
  const { stdout } = await run('dig', [name, type, ...common, ...flags]).catch(
    (error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const status = /status: (\w+),/.exec(stdout.split(';; Got answer:').at(-1)!)?.[1];
  const answers = recordsOf(stdout, 'ANSWER');
  const counts = `${answers.length}/${recordsOf(stdout, 'AUTHORITY').length}`;
  return {
    message: status === undefined ? 'nothing' : told(status, counts, answers),
    warnings: warnings.filter(([pattern]) => pattern.test(stdout)).map(([, word]) => word),
  };
}

/**
 * Formats a result in the form of `Says.message`.
 *
 * @param answers records as text, each of which ends with its data
 */
export function told(rcode: string, counts: string, answers: readonly string[]): string {
  const addresses = new Set(answers.flatMap((record) => /\d+\.\d+\.\d+\.\d+$/.exec(record)?.[0] ?? []));
  return [rcode, counts, ...addresses].join(' ');
}

function recordsOf(stdout: string, section: string): readonly string[] {
  const [, text = ''] = stdout.split(`;; ${section} SECTION:\n`);
  return text === '' ? [] : text.split('\n\n')[0]!.split('\n');
}

/** Queries with `delv`, which validates the answer itself. @param anchors the file with its trust anchors */
export async function delvSays(
  port: number,
  name: string,
  type: string,
  anchors: string,
  root: string,
): Promise<string> {
  const args = ['@127.0.0.1', '-p', String(port), '-a', anchors, `+root=${root}`, '+cdflag', name, type];
  const { stdout, stderr } = await run('delv', args).catch(
    (error: { readonly stdout?: string; readonly stderr?: string }) => ({
      stdout: error.stdout ?? '',
      stderr: error.stderr ?? '',
    }),
  );
  const text = stdout + stderr;
  const said = /^; ((?:negative response, )?(?:fully validated|unsigned answer))/m.exec(text)?.[1];
  return said ?? /^;; resolution failed: (.*)$/m.exec(text)?.[1] ?? text.trim();
}

const warnings: readonly (readonly [RegExp, string])[] = [
  [/recursion requested but not available/, 'no recursion'],
  [/Truncated, retrying in TCP mode/, 'truncated'],
  [/ID mismatch/, 'id mismatch'],
  [/Question section mismatch/i, 'question mismatch'],
  [/query response not set/, 'not a response'],
  [/malformed message packet/, 'malformed'],
  [/Got bad packet: (?!FORMERR)/, 'bad packet'],
  [/Got bad packet: FORMERR/, 'bad packet (FORMERR)'],
  [/extra bytes at end/, 'extra octets'],
  [/retrying with EDNS version/, 'other EDNS version'],
  [/retrying without EDNS/i, 'without EDNS'],
  [/communications error|no servers could be reached/, 'no servers'],
  [/EDNS query returned status \w+ - retry with '\+noedns'/, 'retry without EDNS'],
];
