import { describe, expect, it } from '@jest/globals';

import { formDefinitions, type FormDefinition } from '../../build/check-forms.ts';
import { fieldAt, pairIn, requestOf, valuesOf } from './values.ts';

const forms = formDefinitions();
const formOf = (type: string): FormDefinition => forms.find((form) => form.type === type)!;

describe('two probes in the field of the host', () => {
  it.each([
    'example.com',
    'fra-1',
    'fra-1 - nyc-1',
    'fra-1 <->',
    'a.example <-> b.example',
    'fra-1 <-> nyc-1 <-> sgp-1',
  ])('are not found in %s', (text) => {
    expect(pairIn(text)).toBeUndefined();
  });

  it('get the faults of the service', () => {
    expect(fieldAt(formOf('traceroute'), '/between/1')).toBe('host');
    expect(fieldAt(formOf('ping'), '/between/1')).toBeUndefined();
  });
});

describe('the form', () => {
  it('offers every check type, with the fields and options of its schema', () => {
    expect(forms.map(({ type }) => type)).toEqual(['ping', 'http', 'dns', 'tcp', 'udp', 'traceroute', 'info']);
    expect(formOf('tcp').required).toContain('port');
    expect(Object.keys(formOf('ping').options)).toEqual(['count', 'interval', 'size', 'family', 'ttl', 'dscp']);
    expect(formOf('dns').fields['recordType']).toMatchObject({ type: 'string', default: 'A' });
  });

  it.each([
    [
      'two probes in place of the host',
      'traceroute',
      'fra-1 <-> nyc-1',
      {},
      { type: 'traceroute', between: ['fra-1', 'nyc-1'] },
    ],
    [
      'two probes as a check names them',
      'traceroute',
      ' fra-1 ↔ nyc-1',
      {},
      { type: 'traceroute', between: ['fra-1', 'nyc-1'] },
    ],
    ['nothing but the host', 'ping', 'example.com', {}, { type: 'ping', host: 'example.com' }],
    [
      'numbers, and choices that are numbers',
      ...(['ping', 'example.com', { 'options.count': ' 8 ', 'options.family': '6' }] as const),
      { type: 'ping', host: 'example.com', options: { count: 8, family: 6 } },
    ],
    [
      'what is no number as it was typed, so that the service says why',
      ...(['tcp', 'example.com', { port: 'https' }] as const),
      { type: 'tcp', host: 'example.com', port: 'https' },
    ],
    [
      'the port that stands behind the host',
      ...(['tcp', 'example.com:443', {}] as const),
      { type: 'tcp', host: 'example.com', port: 443 },
    ],
    [
      'lists and boxes; those at their default are left out',
      ...([
        'http',
        'example.com',
        { locations: 'de+AS64496, Japan,', insecureSSL: true, 'options.screenshot': true },
      ] as const),
      { type: 'http', host: 'https://example.com', locations: ['de+AS64496', 'Japan'], insecureSSL: true },
    ],
    [
      'headers by line',
      ...(['http', 'https://example.com', { 'options.headers': 'Accept: a:b\n\nX' }] as const),
      { type: 'http', host: 'https://example.com', options: { headers: { Accept: 'a:b', X: '' } } },
    ],
  ])('sends %s', (_reason, type, host, values, request) => {
    expect(requestOf(formOf(type), host, values)).toEqual(request);
  });

  it('shows a request that was sent before', () => {
    const request = {
      type: 'http',
      host: 'https://example.com',
      insecureSSL: true,
      locations: ['de', 'fr'],
      limit: 3,
      options: { headers: { A: 'b', C: 'd' }, followRedirects: 2 },
    };

    const values = valuesOf(formOf('http'), request);

    expect(values).toEqual({
      insecureSSL: true,
      locations: 'de, fr',
      limit: '3',
      'options.headers': 'A: b\nC: d',
      'options.followRedirects': '2',
    });
    expect(requestOf(formOf('http'), request.host, values)).toEqual(request);
  });

  it.each([
    ['/host', 'host'],
    ['/port', undefined],
    ['/locations/0', 'locations'],
    ['/options/count', 'options.count'],
    ['/options', undefined],
    ['', undefined],
  ])('knows which of its fields %s is', (pointer, field) => {
    expect(fieldAt(formOf('ping'), pointer)).toBe(field);
  });
});
