import { describe, expect, it } from '@jest/globals';
import { checkTypes } from '@vantage/diagnostics/contract';

import { fakeEvaluateTarget } from '../../../test/http-fakes.ts';
import { readMonitorsFile } from '../../monitors/file/monitors-file.ts';
import { createMonitorReader } from './read-monitor.ts';

const read = createMonitorReader(Object.values(checkTypes), fakeEvaluateTarget);
const ping = { type: 'ping', host: 'example.com', limit: 5 };

describe('a monitor', () => {
  it('is a check request with an interval, expectations and an alarm', () => {
    const request = {
      check: ping,
      every: '60s',
      expect: { maxLoss: 0.5 },
      alarm: { when: '3 of 5', networks: 2, for: 2 },
    };

    expect(read('web', request)).toMatchObject({
      valid: true,
      definition: {
        name: 'web',
        request,
        everyMs: 60_000,
        expectation: { maxLoss: 0.5 },
        rule: { failing: 3, of: 5, networks: 2, countries: 1, ticks: 2 },
        accepted: { submittedHost: 'example.com', limit: 5, params: { options: { count: 4 } } },
      },
    });
  });

  it.each([
    ['takes no screenshot by default', {}, false],
    ['takes one that is asked for', { screenshot: true }, true],
  ])('%s', (_reason, options, screenshot) => {
    const request = { check: { type: 'http', host: 'https://example.com/', options }, every: '5m' };

    expect(read('web', request)).toMatchObject({
      definition: { request, accepted: { params: { options: { screenshot } } } },
    });
  });

  it.each<[string, object, object]>([
    ['one family', {}, { flows: 16, queries: 1 }],
    ['many hops', { maxHops: 41 }, { flows: 1, queries: 3 }],
    ['both families', { family: 'both' }, { flows: 1, queries: 3 }],
    ['both families and few hops', { family: 'both', maxHops: 20 }, { flows: 16, queries: 1 }],
  ])('traces as many flows as packets allow, if the client chose none: %s', (_reason, options, counts) => {
    const request = { check: { type: 'traceroute', host: 'example.com', options }, every: '5m' };

    expect(read('web', request)).toMatchObject({
      valid: true,
      definition: { accepted: { params: { options: counts } } },
    });
  });

  it.each<[string, object, string, string]>([
    ['no check', { every: '60s' }, '/check', 'is required'],
    ['no interval', { check: ping }, '/every', 'is required'],
    [
      'two probes in place of a target',
      { check: { type: 'traceroute', between: ['fra-1', 'nyc-1'] }, every: '60s' },
      '/check/between',
      'is not for monitors: a monitor has one target, named by `host`',
    ],
    [
      'an interval in words',
      { check: ping, every: 'hourly' },
      '/every',
      'must be a duration from 10s to 1d, such as 30s or 5m',
    ],
    ['an interval that is too short', { check: ping, every: '5s' }, '/every', 'must be a duration from 10s to 1d'],
    ['a number of seconds', { check: ping, every: 60 }, '/every', 'must be a duration from 10s to 1d'],
    ['an alarm in words', { check: ping, every: '60s', alarm: { when: 'most' } }, '/alarm/when', 'such as 3 of 5'],
    [
      'an unknown field',
      { check: ping, every: '60s', expects: {} },
      '/expects',
      'is not a known field: “expects”; did you mean “expect”?',
    ],
    [
      'an unknown check type',
      { check: { type: 'smtp', host: 'a' }, every: '60s' },
      '/check/type',
      'must be one of dns, http',
    ],
    ['a field of the check', { check: { ...ping, limit: 0 }, every: '60s' }, '/check/limit', 'must be >= 1'],
    [
      'a target that the policy refuses',
      { check: { ...ping, host: '10.0.0.1' }, every: '60s' },
      '/check/host',
      '10.0.0.1 is in 10.0.0.0/8',
    ],
    ['a bound', { check: ping, every: '60s', expect: { maxLoss: 2 } }, '/expect/maxLoss', 'must be <= 1'],
    [
      'an expectation of another type',
      { check: ping, every: '60s', expect: { status: ['2xx'] } },
      '/expect/status',
      'is for http checks only',
    ],
    [
      'more failing probes than probes',
      { check: ping, every: '60s', alarm: { when: '5 of 3' } },
      '/alarm/when',
      'the first not above the second',
    ],
    [
      'a bound for what must not answer',
      { check: ping, every: '60s', expect: { result: 'failure', maxRtt: 5 } },
      '/expect/maxRtt',
      'cannot be combined',
    ],
    [
      'a certificate of a plain URL',
      { check: { type: 'http', host: 'http://example.com/' }, every: '60s', expect: { certificateDays: 5 } },
      '/expect/certificateDays',
      'is for https URLs only',
    ],
    [
      'a time that a result never has',
      { check: { type: 'info', host: '192.0.2.1' }, every: '60s', expect: { maxRtt: 5 } },
      '/expect/maxRtt',
      'is for names only',
    ],
    [
      'an alarm by more probes than the check has',
      { check: { ...ping, limit: 1 }, every: '60s', alarm: { when: '2 of 3' } },
      '/alarm/when',
      'takes at least 2 probes, and the check runs from one',
    ],
    [
      'an alarm by more networks than the check has probes',
      { check: { type: 'ping', host: 'example.com', probes: ['a', 'b'] }, every: '60s', alarm: { networks: 3 } },
      '/alarm/networks',
      'takes at least 3 probes, and the check runs from 2 at most',
    ],
    [
      'an alarm by more countries than the default number of probes',
      { check: { type: 'ping', host: 'example.com' }, every: '60s', alarm: { countries: 11 } },
      '/alarm/countries',
      'takes at least 11 probes, and the check runs from 10 at most',
    ],
  ])('names the field and the bound: %s', (_reason, request, path, message) => {
    const reading = read('web', request);

    expect(reading).toMatchObject({ valid: false, errors: [{ path, message: expect.stringContaining(message) }] });
  });
});

describe('an alarm', () => {
  it.each([
    ['as many networks as probes', { limit: 2 }, { networks: 2 }],
    ['a share of more probes than there are', { limit: 2 }, { when: '3 of 5' }],
    ['one probe alone', { limit: 1 }, { when: '1 of 1' }],
    ['the time of the resolution of a name', { type: 'info', limit: 1 }, {}],
  ])('may take %s', (_what, check, alarm) => {
    const request = { check: { ...ping, ...check }, every: '60s', alarm, expect: { maxRtt: 5 } };

    expect(read('web', request)).toMatchObject({ valid: true });
  });
});

describe('a fault of one stage', () => {
  const paths = (request: unknown, reader = read): readonly string[] => {
    const reading = reader('web', request);
    return reading.valid ? [] : reading.errors.map(({ path }) => path).toSorted();
  };
  const tcp = { type: 'tcp', host: 'example.com', port: 443 };

  it.each<[string, object, readonly string[]]>([
    [
      'of the schema, of bounds, of the check and of its target',
      { check: { ...tcp, host: '10.0.0.1', port: 99_999 }, every: '5s', alarm: { when: '5 of 3', for: 0 } },
      ['/alarm/for', '/alarm/when', '/check/host', '/check/port', '/every'],
    ],
    [
      'of an unknown field, and of expectations',
      { chek: 1, check: tcp, every: '60s', expect: { maxRtt: -1, status: ['2xx'] } },
      ['/chek', '/expect/maxRtt', '/expect/status'],
    ],
    [
      'of a check without a type, whose other fields all types have',
      { check: { host: 'example.com', limit: 0 }, every: 5, alarm: { when: 1 } },
      ['/alarm/when', '/check/limit', '/check/type', '/every'],
    ],
    [
      'of a resolver that is refused, which is no fault of the host',
      { check: { type: 'dns', host: 'example.com', recordType: 9, options: { resolver: '10.0.0.1' } }, every: '1s' },
      ['/check/options/resolver', '/check/recordType', '/every'],
    ],
    ['of no check at all', { check: 'ping', every: '1s', alarm: 7 }, ['/alarm', '/check', '/every']],
  ])('hides none of another: %s', (_reason, request, expected) => {
    expect(paths(request)).toEqual(expected);
  });

  it('says nothing of what needs the field that is broken', () => {
    // The schema reports the missing port. The rule that an address has one family reads the host, and is left out.
    const check = { type: 'tcp', host: 7, options: { family: 'both' } };

    expect(paths({ check, every: '60s', expect: { maxLoss: 1 } })).toEqual([
      '/check/host',
      '/check/port',
      '/expect/maxLoss',
    ]);
  });

  it('hides none of a webhook', () => {
    const signing = createMonitorReader(Object.values(checkTypes), fakeEvaluateTarget, true);
    const request = { check: ping, every: 'x', webhooks: [3, 'https://b.invalid', 'https://a.example/…'] };

    expect(paths(request, signing)).toEqual(['/every', '/webhooks/0', '/webhooks/1', '/webhooks/2']);
  });
});

describe('the name of a monitor', () => {
  it('is named as a part of the path, with the faults of the request', () => {
    expect(read('Web_1', { check: ping, every: '1s' })).toEqual({
      valid: false,
      errors: [
        { path: '{name}', message: 'must be 1 to 63 lower-case letters, digits and hyphens, the first no hyphen' },
        { path: '/every', message: 'must be a duration from 10s to 1d, such as 30s or 5m' },
      ],
    });
  });
});

describe('the webhooks of a monitor', () => {
  const signing = createMonitorReader(Object.values(checkTypes), fakeEvaluateTarget, true);
  const withWebhooks = (...webhooks: readonly string[]): object => ({ check: ping, every: '60s', webhooks });

  it('need a secret of the coordinators', () => {
    expect(read('web', withWebhooks('https://a.example/'))).toMatchObject({ errors: [{ path: '/webhooks' }] });
    expect(signing('web', withWebhooks('https://a.example/'))).toMatchObject({ valid: true });
  });

  it('pass the target policy', () => {
    const errors = [{ path: '/webhooks/1', message: 'The host has an odd form.' }];

    expect(signing('web', withWebhooks('https://a.example/', 'https://b.invalid'))).toEqual({ valid: false, errors });
  });

  it('are whole: the form in which answers have them is refused', () => {
    const errors = [{ path: '/webhooks/0', message: 'must be the whole URL' }];

    expect(signing('web', withWebhooks('https://a.example/…'))).toEqual({ valid: false, errors });
  });
});

describe('the file of monitors', () => {
  it('is a map of names to monitors', () => {
    const text =
      'monitors:\n  web:\n    check: {type: ping, host: example.com}\n    every: 60s\n  dns-1:\n    check: {type: dns, host: a.example}\n    every: 1h\n';

    expect(readMonitorsFile(text, read)).toMatchObject({
      valid: true,
      definitions: [
        { name: 'web', everyMs: 60_000 },
        { name: 'dns-1', everyMs: 3_600_000 },
      ],
    });
    expect(readMonitorsFile('monitors: {}\n', read)).toMatchObject({ valid: true, definitions: [] });
  });

  it('reports a fault once, however many values it breaks', () => {
    expect(readMonitorsFile('monitors: {a: {check: {type: tcp}\n', read)).toEqual({
      valid: false,
      faults: [{ line: 2, message: expect.stringContaining('must be sufficiently indented and end with a }') }],
    });
  });

  it('reports all faults with their lines', () => {
    const text = [
      'monitors:',
      '  web:',
      '    check: {type: ping, host: example.com}',
      '    every: 5s',
      '  Bad_Name:',
      '    every: 60s',
      '  other:',
      '    check:',
      '      type: ping',
      '      host: example.com',
      '      options: {count: 99}',
      '    every: 60s',
      'monitor: {}',
    ].join('\n');

    expect(readMonitorsFile(text, read)).toEqual({
      valid: false,
      faults: [
        { line: 13, message: '/monitor is not a known field' },
        { line: 4, message: '/monitors/web/every must be a duration from 10s to 1d, such as 30s or 5m' },
        {
          line: 5,
          message:
            '/monitors/Bad_Name: the name must be 1 to 63 lower-case letters, digits and hyphens, the first no hyphen',
        },
        { line: 5, message: '/monitors/Bad_Name/check is required' },
        { line: 11, message: '/monitors/other/check/options/count must be <= 16' },
      ],
    });
  });

  it('says of a status that YAML reads as a number that it must be a text', () => {
    const text =
      'monitors:\n  a:\n    check: {type: http, host: https://a.example/}\n    every: 60s\n    expect: {status: [301]}\n';

    expect(readMonitorsFile(text, read)).toEqual({
      valid: false,
      faults: [
        {
          line: 5,
          message:
            '/monitors/a/expect/status/0 must be a text with a status code or a class of them, such as "301" or "2xx"',
        },
      ],
    });
  });

  it('reports a name that is there twice together with all other faults', () => {
    const text = 'monitors:\n  a: {}\n  a: {}\n  b:\n    check: {type: ping, host: a.example}\n    every: 5s\n';

    expect(readMonitorsFile(text, read)).toMatchObject({
      faults: expect.arrayContaining([
        { line: 3, message: 'the key a is there twice' },
        { line: 6, message: expect.stringContaining('/monitors/b/every') },
      ]),
    });
  });

  it('has at most fifty faults, and says how many more there are', () => {
    const text = `monitors:\n${Array.from({ length: 60 }, (_, index) => `  m${index}: {every: 60s}`).join('\n')}\n`;
    const reading = readMonitorsFile(text, read);

    expect(reading.valid ? [] : reading.faults.slice(49)).toEqual([
      { line: 51, message: '/monitors/m49/check is required' },
      { line: 52, message: '10 more faults follow' },
    ]);
  });

  it('may repeat parts by anchors, aliases and merges', () => {
    const text = [
      'monitors:',
      '  a: &a',
      '    check: &check {type: ping, host: a.example}',
      '    every: 60s',
      '  b:',
      '    <<: *a',
      '    check: {<<: *check, host: b.example}',
    ].join('\n');

    expect(readMonitorsFile(text, read)).toMatchObject({
      valid: true,
      definitions: [{ name: 'a' }, { everyMs: 60_000, accepted: { submittedHost: 'b.example' } }],
    });
  });

  it.each([
    ['no YAML', 'monitors: {a: [}\n', 1],
    ['a name twice', 'monitors:\n  web: {}\n  web: {}\n', 3],
    ['bytes that are not UTF-8', Buffer.from('monitors: {}\n# \xff\n', 'latin1').toString(), 2],
    ['UTF-16', Buffer.from('monitors: {}\n', 'utf16le').toString(), 1],
    ['two documents', 'monitors: {}\n---\nmonitors: {}\n', 2],
    ['a list', '- web\n', 1],
    ['nothing', '', 1],
    ['monitors that are a list', 'monitors:\n  - web\n', 1],
  ])('is refused: %s', (_reason, text, line) => {
    expect(readMonitorsFile(text, read)).toMatchObject({
      valid: false,
      faults: expect.arrayContaining([expect.objectContaining({ line })]),
    });
  });

  it.each(['web\n', '- monitors\n', '7\n'])('is refused without the field monitors: %j', (text) => {
    expect(readMonitorsFile(text, read)).toEqual({
      valid: false,
      faults: [{ line: 1, message: 'must be an object with the field monitors' }],
    });
  });

  it('is refused if its aliases would fill the memory', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
    );
    const bomb = ['l0: &l0 [a]', ...levels, 'monitors: *l12'].join('\n');

    expect(readMonitorsFile(bomb, read)).toMatchObject({ valid: false });
  });
});
