import { describe, expect, it } from '@jest/globals';

import { corpusVerdicts } from '../../test/http-corpus-verdicts.ts';
import { frameVerdicts } from '../../test/http2-corpus-verdicts.ts';
import { navigationFailure, placedFailure } from './failures.ts';

/** Errors of Chromium at the answers of both corpora that depend on the end of the connection, or mean no fault. */
const undecided = new Set(['ERR_ABORTED', 'ERR_CONTENT_LENGTH_MISMATCH', 'ERR_INCOMPLETE_CHUNKED_ENCODING']);
const refusals = [...Object.values(corpusVerdicts), ...Object.values(frameVerdicts)]
  .flatMap(({ chromium = '' }) => (chromium.startsWith('ERR_') ? [chromium] : []))
  .filter((name) => !undecided.has(name));

describe('a page that Chromium could not load', () => {
  it('is no failure of the target where an interface of the probe changed', () => {
    const failure = navigationFailure(new Error('net::ERR_NETWORK_CHANGED at https://page.test/'));

    expect(failure).toMatchObject({ code: 'screenshot_failed', phase: 'exec', source: 'probe' });
  });

  it('is a failure of the target where the target closed the connection', () => {
    const failure = navigationFailure(new Error('net::ERR_CONNECTION_CLOSED at https://page.test/'));

    expect(failure).toMatchObject({ code: 'connection_closed', source: 'target' });
  });

  it.each([...new Set(refusals)])('is a failure with a code: %s', (name) => {
    const failure = navigationFailure(new Error(`net::${name} at https://page.test/`));

    expect(failure.source).toBe('target');
    expect(failure.code).toMatch(/^(http2?_|connection_)/);
  });

  it('is no malformed answer where the target may have ended the HTTP/2 stream, as Chromium does not tell', () => {
    expect(frameVerdicts['RST_STREAM CANCEL']?.chromium).toBe('ERR_HTTP2_PROTOCOL_ERROR');

    const failure = navigationFailure(new Error('net::ERR_HTTP2_PROTOCOL_ERROR at https://page.test/'));

    expect(failure).toMatchObject({ code: 'http2_ended', source: 'target' });
  });

  it('is a page that goes on to another one, without the words of the protocol', () => {
    const error = new Error('Protocol error (Page.captureScreenshot): Not attached to an active page');

    expect(navigationFailure(error).message).toBe(
      'The page went on to another one each time before it could be shown.',
    );
    expect(navigationFailure(new Error('odd')).message).toBe('The page could not be shown: odd.');
  });

  it.each([
    ['the same origin', 'https://page.test/b', ''],
    ['another scheme', 'http://page.test/b', ' This was at http://page.test, to which it leads.'],
    ['a URL without a host', 'data:text/plain,b', ''],
  ])('is placed at %s', (_where, last, place) => {
    const failure = { code: 'timed_out', phase: 'response', source: 'target', message: 'Late.' } as const;

    const placed = placedFailure(failure, new URL('https://page.test/'), new URL(last));

    expect(placed.message).toBe(`Late.${place}`);
  });
});
