import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface DugRecord {
  readonly name: string;
  readonly ttl: number;
  readonly type: string;
  readonly data: string;
}

/** One answer as reported by `dig`. */
export interface Dug {
  readonly rcode: string;
  readonly flags: readonly string[];
  readonly answers: readonly DugRecord[];
  readonly authority: readonly DugRecord[];
  readonly additional: readonly DugRecord[];
  /** Codes of the extended errors (RFC 8914). */
  readonly extendedErrors: readonly number[];
  /** Bytes of the message. */
  readonly size: number;
  readonly queryMs: number;
}

/** Why `dig` is unavailable; null if it is available. */
export async function digMissing(): Promise<string | null> {
  return run('dig', ['-v']).then(
    () => null,
    () => 'dig (Debian package bind9-dnsutils) not found',
  );
}

/**
 * Sends several queries with `dig`, each given by its arguments: name, type and flags. Answers are in the same order.
 */
export async function dig(port: number, questions: readonly (readonly string[])[]): Promise<readonly Dug[]> {
  // `-u` gives times in microseconds; our queries have no cookie either.
  const common = ['-u', '@127.0.0.1', '-p', String(port), '+nocookie', '+bufsize=1232', '+tries=5', '+time=5'];
  const sections = ['+noall', '+comments', '+answer', '+authority', '+additional', '+stats'];
  const args = questions.flatMap((question) => [...question, ...common, ...sections]);
  const { stdout } = await run('dig', args, { maxBuffer: 16 << 20 });
  const answers = stdout.split(/^;; Got answer:$/m).slice(1);
  if (answers.length !== questions.length) throw new Error(`dig answered ${answers.length} questions:\n${stdout}`);
  return answers.map(readAnswer);
}

function readAnswer(text: string): Dug {
  const sections = new Map<string, DugRecord[]>();
  let section: DugRecord[] = [];
  for (const line of text.split('\n')) {
    const title = /^;; (ANSWER|AUTHORITY|ADDITIONAL) SECTION:$/.exec(line)?.[1];
    if (title !== undefined) sections.set(title, (section = []));
    const [, name, ttl, type, data] = /^([^;\s]\S*)\s+(\d+)\s+IN\s+(\S+)\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) section.push({ name, ttl: Number(ttl), type: type!, data: data! });
  }
  return {
    rcode: /status: (\w+),/.exec(text)?.[1] ?? '',
    flags: /^;; flags: ([a-z ]*);/m.exec(text)?.[1]?.trim().split(' ') ?? [],
    answers: sections.get('ANSWER') ?? [],
    authority: sections.get('AUTHORITY') ?? [],
    additional: sections.get('ADDITIONAL') ?? [],
    extendedErrors: [...text.matchAll(/^; EDE: (\d+)/gm)].map(([, code]) => Number(code)),
    size: Number(/^;; MSG SIZE {2}rcvd: (\d+)$/m.exec(text)?.[1]),
    queryMs: Number(/^;; Query time: (\d+) usec$/m.exec(text)?.[1]) / 1_000,
  };
}
