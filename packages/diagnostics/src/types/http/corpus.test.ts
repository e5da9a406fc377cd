import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { browserHere } from '@vantage/test-support/browser/needs';
import {
  askCurl,
  curlVersion,
  servingFrames,
  servingRaw,
  startChromium,
  type Chromium,
  type ReaderVerdict,
} from '../../../test/http-corpus-readers.ts';
import { corpusVerdicts, type Verdicts } from '../../../test/http-corpus-verdicts.ts';
import { frameVerdicts } from '../../../test/http2-corpus-verdicts.ts';
import { frameAnswers, type FrameAnswer } from '../../../test/http2-corpus.ts';
import { certificateMint, type Issued } from '@vantage/test-support/certificate-mint';
import { rawAnswers, type RawAnswer } from '../../../test/http-corpus.ts';
import { checkOf, problemsOf } from '../../../test/http.ts';
import { itNeeding } from '@vantage/test-support/needs';

/** Version of curl whose decisions are expected. */
const CURL = '7.88';

const curl = await curlVersion();
const itWithCurl = itNeeding(
  curl === CURL ? null : `the table is of curl ${CURL}, here is ${curl ?? 'none'}`,
  process.env['CI'],
);
const { executablePath, missing } = browserHere(process.env['PATH']);
const itWithBrowser = itNeeding(missing, process.env['CI']);

describe('an answer of HTTP/1.1', () => {
  const serve = (answer: RawAnswer, use: (url: string) => Promise<ReaderVerdict>) => servingRaw(answer, use);

  it.each(rawAnswers)('is read as the table has it, with its deviations: $name', async (answer) => {
    const seen = await servingRaw(answer, (url) => ask(url, answer.method));

    const { check, deviations = [] } = corpusVerdicts[answer.name]!;
    expect(seen).toEqual({ verdict: check, deviations, problems: [] });
  });

  itWithCurl('is read by curl as the table has it', async () => {
    const seen = await seenBy(rawAnswers, (answer) => serve(answer, (url) => askCurl(url, answer.method)));

    expect(seen).toEqual(rowsOf(rawAnswers, corpusVerdicts, 'curl'));
  });

  // A browser cannot navigate with HEAD.
  itWithBrowser('is read by Chromium as the table has it', async () => {
    const answers = rawAnswers.filter(({ method }) => method === undefined);

    const seen = await seenBy(answers, (answer) => serve(answer, browser!.ask));

    expect(seen).toEqual(rowsOf(answers, corpusVerdicts, 'chromium'));
  });
});

describe('an answer of HTTP/2', () => {
  let identity: Issued;
  const serve = (answer: FrameAnswer, use: (url: string) => Promise<ReaderVerdict>) =>
    servingFrames(answer, identity, use);

  beforeAll(() => {
    const mint = certificateMint();
    identity = mint.issue({ subject: '/CN=corpus.test', names: ['IP:127.0.0.1'], ca: true });
    mint.close();
  });

  it.each(frameAnswers)('is read as the table has it, with its deviations: $name', async (answer) => {
    const seen = await servingFrames(answer, identity, (url) => ask(url, undefined));

    const { check, deviations = [] } = frameVerdicts[answer.name]!;
    expect(seen).toEqual({ verdict: check, deviations, problems: [] });
  });

  itWithCurl('is read by curl as the table has it', async () => {
    const seen = await seenBy(frameAnswers, (answer) =>
      serve(answer, (url) => askCurl(url, undefined, ['--insecure'])),
    );

    expect(seen).toEqual(rowsOf(frameAnswers, frameVerdicts, 'curl'));
  });

  itWithBrowser('is read by Chromium as the table has it', async () => {
    const seen = await seenBy(frameAnswers, (answer) => serve(answer, browser!.ask));

    expect(seen).toEqual(rowsOf(frameAnswers, frameVerdicts, 'chromium'));
  });
});

describe('the tables', () => {
  it.each([
    ['HTTP/1.1', corpusVerdicts, rawAnswers],
    ['HTTP/2', frameVerdicts, frameAnswers],
  ])(
    'of %s have a row for each answer, and a reason for each difference and for nothing else',
    (_version, table, answers) => {
      const unexplained = Object.entries(table).filter(([, { check, curl = check, chromium = check, why }]) => {
        const differs = curl !== check || chromium !== check;
        return differs !== (why !== undefined);
      });

      expect(unexplained).toEqual([]);
      expect(Object.keys(table).toSorted()).toEqual(answers.map(({ name }) => name).toSorted());
    },
  );
});

let browser: Chromium | undefined;

beforeAll(async () => {
  if (missing === null) browser = await startChromium(executablePath);
});
afterAll(() => browser?.close());

type Row = readonly [name: string, verdict: ReaderVerdict | undefined];

async function seenBy<A extends { readonly name: string }>(
  answers: readonly A[],
  read: (answer: A) => Promise<ReaderVerdict>,
): Promise<readonly Row[]> {
  const seen: Row[] = [];
  for (const answer of answers) seen.push([answer.name, await read(answer)]);
  return seen;
}

function rowsOf(
  answers: readonly { readonly name: string }[],
  table: Readonly<Record<string, Verdicts>>,
  program: 'curl' | 'chromium',
): readonly Row[] {
  return answers.map(({ name }) => [name, table[name]?.[program] ?? table[name]?.check]);
}

interface Seen {
  readonly verdict: ReaderVerdict;
  readonly deviations: readonly string[];
  readonly problems: readonly unknown[];
}

async function ask(url: string, method: RawAnswer['method']): Promise<Seen> {
  const outcome = await checkOf(url, { insecureSSL: true, options: { method: method ?? 'GET' } });
  const { error, statusCode = '-', bodyBytes, deviations = [] } = outcome;
  const isRead = error === null || error.code === 'http_status';
  return {
    verdict: isRead ? `${statusCode} ${bodyBytes}` : `${error.code} ${statusCode}`,
    deviations: deviations.map(({ code }) => code),
    problems: problemsOf(outcome),
  };
}
