import { describe, expect, it } from '@jest/globals';

import { boolean, integer, list, number, oneOf, readSettings, setting, text, url } from './index.ts';

const settings = {
  port: setting({ env: 'PORT', kind: integer(1, 65535), default: '8080', description: 'Port.' }),
  redisUrl: setting({ env: 'REDIS_URL', kind: url(['redis:', 'rediss:']), required: true, description: 'Store.' }),
  tags: setting({ env: 'TAGS', kind: list(oneOf(['a', 'b'])), default: '', description: 'Tags.' }),
  open: setting({ env: 'OPEN', kind: boolean, default: 'false', description: 'Open.' }),
  contact: setting({ env: 'CONTACT', kind: text, description: 'Contact.' }),
  password: setting({ env: 'PASSWORD', kind: integer(1, 2), secret: true, description: 'Secret.' }),
};

describe('readSettings', () => {
  it('fills in defaults and leaves an absent optional setting undefined', () => {
    const values = readSettings(settings, { REDIS_URL: 'redis://127.0.0.1:6379', PORT: '' });

    expect(values).toEqual({
      port: 8080,
      redisUrl: 'redis://127.0.0.1:6379',
      tags: [],
      open: false,
      contact: undefined,
      password: undefined,
    });
  });

  it('reads every kind', () => {
    const values = readSettings(settings, {
      REDIS_URL: 'rediss://store:6380',
      PORT: '65535',
      TAGS: ' a, b ,',
      OPEN: 'true',
      CONTACT: 'ops',
    });

    expect(values).toMatchObject({ port: 65535, tags: ['a', 'b'], open: true, contact: 'ops' });
  });

  it('reads each number in its range as Node prints it', () => {
    const rate = setting({ env: 'RATE', kind: number(0.01, 10), required: true, description: 'Rate.' });
    const printed = [3.0719999999999996, 0.010000000000000002, 1 / 3, 10].map(String);

    expect(printed.map((RATE) => readSettings({ rate }, { RATE }).rate)).toEqual(printed.map(Number));
    expect(() => readSettings({ rate }, { RATE: '0.001' })).toThrow('RATE must be a number from 0.01 to 10');
  });

  it('lists every fault at once and never prints a secret', () => {
    const read = (): unknown => readSettings(settings, { PORT: '0x50', TAGS: 'a,c', OPEN: 'yes', PASSWORD: 'hunter' });

    expect(read).toThrow(
      [
        'The configuration cannot be used:',
        '  PORT must be an integer from 1 to 65535',
        '  REDIS_URL is required: Store.',
        '  TAGS has the item “c”, which must be one of a, b',
        '  OPEN must be true or false',
        '  PASSWORD cannot be read',
      ].join('\n'),
    );
    expect(read).not.toThrow(/hunter/);
  });
});
