import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { browserHere } from '../../test/browser-needs.ts';
import {
  askCurl,
  curlVersion,
  servingRaw,
  startChromium,
  type Chromium,
  type Verdict,
} from '../../test/http-corpus-readers.ts';
import { verdicts } from '../../test/http-corpus-verdicts.ts';
import { rawAnswers, type RawAnswer } from '../../test/http-corpus.ts';
import { checkOf, problemsOf } from '../../test/http.ts';
import { itNeeding } from '../../test/needs.ts';

jest.setTimeout(300_000);

/** Other versions of curl may judge otherwise. */
const CURL = '7.88';

const curl = await curlVersion();
const itWithCurl = itNeeding(
  curl === CURL ? null : `the table is of curl ${CURL}, here is ${curl ?? 'none'}`,
  process.env['CI'],
);
const { executablePath, missing } = browserHere(process.env['PATH']);
const itWithBrowser = itNeeding(missing, process.env['CI']);

describe('an answer of HTTP/1.1', () => {
  it.each(rawAnswers)('is read as the table has it, with its deviations: $name', async (answer) => {
    const { outcome, verdict } = await servingRaw(answer, (url) => ask(url, answer.method));

    const { check, deviations = [] } = verdicts[answer.name]!;
    expect([verdict, (outcome.deviations ?? []).map(({ code }) => code)]).toEqual([check, deviations]);
    expect(problemsOf(outcome)).toEqual([]);
  });

  itWithCurl('is read by curl as the table has it', async () => {
    const rows = rawAnswers.map(({ name }) => [name, verdicts[name]?.curl ?? verdicts[name]?.check]);

    const seen: (readonly [string, Verdict])[] = [];
    for (const answer of rawAnswers) {
      seen.push([answer.name, await servingRaw(answer, (url) => askCurl(url, answer.method))]);
    }

    expect(seen).toEqual(rows);
  });

  it('differs from curl and from Chromium only where the table says why', () => {
    const rows = Object.entries(verdicts);

    const unexplained = rows.filter(([, { check, curl = check, chromium = check, why }]) => {
      const differs = curl !== check || chromium !== check;
      return differs !== (why !== undefined);
    });

    expect(unexplained).toEqual([]);
    expect(rows.map(([name]) => name).toSorted()).toEqual(rawAnswers.map(({ name }) => name).toSorted());
  });
});

describe('an answer of HTTP/1.1 in Chromium', () => {
  let browser: Chromium | undefined;

  beforeAll(async () => {
    if (missing === null) browser = await startChromium(executablePath);
  });
  afterAll(() => browser?.close());

  // A browser cannot be made to ask by HEAD.
  itWithBrowser('is read as the table has it', async () => {
    const answers = rawAnswers.filter(({ method }) => method === undefined);
    const rows = answers.map(({ name }) => [name, verdicts[name]?.chromium ?? verdicts[name]?.check]);

    const seen: (readonly [string, Verdict])[] = [];
    for (const answer of answers) {
      seen.push([answer.name, await servingRaw(answer, (url) => browser!.ask(url))]);
    }

    expect(seen).toEqual(rows);
  });
});

type Outcome = Awaited<ReturnType<typeof checkOf>>;

async function ask(
  url: string,
  method: RawAnswer['method'],
): Promise<{ readonly outcome: Outcome; readonly verdict: Verdict }> {
  const outcome = await checkOf(url, { options: { method: method ?? 'GET' } });
  const { error, statusCode = '-', bodyBytes } = outcome;
  const isRead = error === null || error.code === 'http_status';
  return { outcome, verdict: isRead ? `${statusCode} ${bodyBytes}` : `${error.code} ${statusCode}` };
}
