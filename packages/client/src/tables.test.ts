import { describe, expect, it } from '@jest/globals';

import { asCsv, asJsonLines } from './tables.ts';

const probes = { 'fra-1': { countryCode: 'DE', city: 'Frankfurt, Main', asNumber: 'AS64496', isp: 'Example "One"' } };

/** The columns about the place of `fra-1`. */
const ofProbe = {
  probeCountryCode: 'DE',
  probeCity: 'Frankfurt, Main',
  probeAsNumber: 'AS64496',
  probeIsp: 'Example "One"',
};

const rows = [
  ['fra-1', { result: 'success', rt: -0.5, error: null, timings: { dns: 1, total: 2.5 }, packets: [{ seq: 1 }] }],
  ['nyc-1', { result: 'failure', rt: null, error: { code: 'refused', message: 'No,\nno.' }, addresses: ['a', 'b'] }],
] as const;

describe('the results as CSV', () => {
  it('have a column for each scalar field of any result, and the place of the probe', () => {
    expect(asCsv(rows, probes)).toBe(
      [
        'probe,probeCountryCode,probeCity,probeAsNumber,probeIsp,result,rt,resolvedIp,error.code,error.phase,error.source,error.message,timings.dns,timings.total,addresses',
        'fra-1,DE,"Frankfurt, Main",AS64496,"Example ""One""",success,-0.5,,,,,,1,2.5,',
        'nyc-1,,,,,failure,,,refused,,,"No,\nno.",,,a b',
        '',
      ].join('\r\n'),
    );
  });

  it('have the data of DNS records', () => {
    const answers = [{ name: 'a.example', data: '192.0.2.1' }, { data: '192.0.2.2' }];

    expect(asCsv([['fra-1', { answers }]])).toBe(
      'probe,probeCountryCode,probeCity,probeAsNumber,probeIsp,result,rt,resolvedIp,error.code,error.phase,error.source,error.message,answers\r\nfra-1,,,,,,,,,,,,192.0.2.1 192.0.2.2\r\n',
    );
  });

  it('have no screenshot, which is as large as a file', () => {
    const screenshot = 'iVBORw0KGgo=';

    expect(asCsv([['fra-1', { status: 200, screenshot }]])).toBe(
      'probe,probeCountryCode,probeCity,probeAsNumber,probeIsp,result,rt,resolvedIp,error.code,error.phase,error.source,error.message,status\r\nfra-1,,,,,,,,,,,,200\r\n',
    );
  });

  it('have both measurements of a check over both families in one row', () => {
    const otherFamily = { family: 6, rt: 2, answers: [{ data: '192.0.2.6' }] };

    expect(asCsv([['fra-1', { rt: 1, answers: [{ data: '192.0.2.4' }], otherFamily }]])).toBe(
      'probe,probeCountryCode,probeCity,probeAsNumber,probeIsp,result,rt,resolvedIp,error.code,error.phase,error.source,error.message,answers,otherFamily.family,otherFamily.rt,otherFamily.answers\r\n' +
        'fra-1,,,,,,1,,,,,,192.0.2.4,6,2,192.0.2.6\r\n',
    );
  });

  it('begin with the check, so that tables of several can be joined', () => {
    const check = { testId: 'abc', type: 'ping', host: '=a.example' };
    const [head, row] = asCsv(rows, probes, check).split('\r\n');

    expect(head).toMatch(/^checkId,type,host,probe,/);
    expect(row).toMatch(/^abc,ping,'=a\.example,fra-1,/);
    expect(JSON.parse(asJsonLines(rows, probes, check).split('\n')[0]!)).toMatchObject({
      checkId: 'abc',
      probe: 'fra-1',
    });
  });

  it('have a list of pairs that has a column as JSON, and omit others', () => {
    const result = {
      result: 'success',
      headers: [
        ['server', 'a'],
        ['x', 'b'],
      ],
      hops: [{ hop: 1 }],
    };
    const [, row] = asCsv([['fra-1', result]], {}, undefined, ['result', 'headers']).split('\r\n');

    expect(row).toBe('fra-1,,,,,success,"[[""server"",""a""],[""x"",""b""]]",1');
  });

  it('have the number of hops of a route, also of none', () => {
    const routes = [
      ['fra-1', { hops: [{ hop: 1 }, { hop: 2 }], otherFamily: { hops: [{ hop: 1 }] } }],
      ['par-1', { hops: [] }],
    ] as const;
    const [head, ...rest] = asCsv(routes, {}, undefined, ['result', 'hopCount']).split('\r\n');

    expect(head).toMatch(/,result,hopCount,otherFamily\.hopCount$/);
    expect(rest).toEqual(['fra-1,,,,,,2,1', 'par-1,,,,,,0,', '']);
  });

  it('have the columns that are asked for, whatever the results are, and an object as JSON', () => {
    const columns = ['result', 'error.code', 'headers', 'timings.total'];
    const [success] = asCsv(
      [['fra-1', { result: 'success', error: null, headers: { a: 'b' } }]],
      {},
      undefined,
      columns,
    ).split('\r\n');
    const [failure, row] = asCsv(
      [['fra-1', { result: 'failure', error: { code: 'x' }, timings: null, headers: { a: 'b' } }]],
      {},
      undefined,
      columns,
    ).split('\r\n');

    expect([success, failure]).toEqual(
      Array(2).fill(`probe,probeCountryCode,probeCity,probeAsNumber,probeIsp,${columns.join()}`),
    );
    expect(row).toBe('fra-1,,,,,failure,x,"{""a"":""b""}",');
  });

  it.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx'])('have no formula of a stranger: %j', (text) => {
    const [, row] = asCsv([['fra-1', { hostname: text }]]).split(/\r\n/);

    expect(row).toMatch(/^fra-1,{12}"?'/);
  });
});

describe('a target with a location and a network', () => {
  const rowsOfInfo = [['fra-1', { countryCode: 'US', city: null, isp: 'Example Two' }]] as const;

  it('has its columns apart from those of the probe', () => {
    const [head, row] = asCsv(rowsOfInfo, probes).split('\r\n');

    expect(head).toBe(
      'probe,probeCountryCode,probeCity,probeAsNumber,probeIsp,result,rt,resolvedIp,error.code,error.phase,error.source,error.message,countryCode,city,isp',
    );
    expect(row).toBe('fra-1,DE,"Frankfurt, Main",AS64496,"Example ""One""",,,,,,,,US,,Example Two');
  });

  it('has its fields apart from those of the probe in JSON lines', () => {
    expect(JSON.parse(asJsonLines(rowsOfInfo, probes))).toEqual({ probe: 'fra-1', ...ofProbe, ...rowsOfInfo[0][1] });
  });
});

describe('the results as JSON lines', () => {
  it('are one object per probe', () => {
    const lines = asJsonLines(rows, probes).split('\n');

    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0]!)).toEqual({ probe: 'fra-1', ...ofProbe, ...rows[0][1] });
    expect(JSON.parse(lines[1]!)).toEqual({ probe: 'nyc-1', ...rows[1][1] });
  });
});
