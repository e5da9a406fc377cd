import { connect } from 'node:tls';

import { describe, expect, it } from '@jest/globals';
import { launch } from 'puppeteer';

import { browserHere } from '@vantage/test-support/browser/needs';
import { itNeeding } from '@vantage/test-support/needs';
import { helloOf, type ClientHello } from '../../test/client-hello.ts';
import { createTrustStore } from './certificate/trust-store.ts';
import { chromiumOffer } from './chromium-offer.ts';

const { executablePath, missing } = browserHere(process.env['PATH']);
const itWithBrowser = itNeeding(missing, process.env['CI']);

/** Signatures of ML-DSA, which the table leaves out. */
const ML_DSA = new Set([0x0904, 0x0905, 0x0906]);
/** Tells servers that the client renegotiates securely; no cipher suite (RFC 5746 section 3.3). */
const RENEGOTIATION_INFO = 0x00ff;

function expectOffer({ suites, groups, signatures, versions }: ClientHello): void {
  const { suites: table, groups: tableGroups, signatures: tableSignatures } = chromiumOffer;
  expect(suites.filter((suite) => suite !== RENEGOTIATION_INFO)).toEqual(table);
  expect(groups).toEqual(tableGroups);
  expect(signatures.filter((signature) => !ML_DSA.has(signature))).toEqual(tableSignatures);
  expect(versions).toEqual([0x0304, 0x0303]);
}

describe('what Chromium offers', () => {
  itWithBrowser('is in its ClientHello as the table has it', async () => {
    await using stack = new AsyncDisposableStack();

    const hello = await helloOf(async (port) => {
      const browser = await launch({ executablePath, args: ['--no-sandbox'] });
      stack.defer(() => browser.close());
      const page = await browser.newPage();
      await page.goto(`https://127.0.0.1:${port}/`).catch(() => undefined);
    });

    expectOffer(hello);
  });

  it('is all that a handshake with this offer has', async () => {
    const secureContext = createTrustStore([]).secureContext(undefined, undefined, 'of Chromium');

    const hello = await helloOf((port) => connect({ port, secureContext }).on('error', () => undefined));

    expectOffer(hello);
  });
});
