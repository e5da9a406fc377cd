import { expect, it } from '@jest/globals';
import { nearestWord } from '@vantage/contract';
import { adminSettings, settings as coordinator } from '@vantage/coordinator';
import { settings as load } from '@vantage/load';
import { settings as probeAgent } from '@vantage/probe-agent';
import { unknownVariables, type Settings } from '@vantage/settings';

const apps: readonly (readonly [string, Settings])[] = Object.entries({ coordinator, probeAgent });
// `npm start` gives the environment of one app to the others.
const every = [coordinator, probeAgent, adminSettings, load].flatMap((one: Settings) =>
  Object.values(one).map(({ env }) => env),
);

it.each(apps)('no setting of another app is taken for a mistyped one of this: %s', (_app, settings) => {
  for (const variable of every) expect(unknownVariables(settings, { [variable]: '1' }, nearestWord)).toEqual([]);
});

it.each(apps)('no variable of other software is taken for a mistyped setting: %s', (_app, settings) => {
  const others = `GOPROXY GO_PROXY NPM_PROXY HTTP_PROXY ROLE_ID PROBE_ISP REDIS_DB REDIS_IP REDIS_MAX REDIS_ACL REDIS_SRV REDIS_URI
    REDIS_ACL_FILE LOGLEVEL`;
  for (const variable of others.split(/\s+/)) {
    expect(unknownVariables(settings, { [variable]: '1' }, nearestWord)).toEqual([]);
  }
});

it.each(apps)('each long name with a letter too many is found: %s', (_app, settings) => {
  const names = Object.values(settings).flatMap(({ env }) => (env.includes('_') ? [env] : []));

  expect(names.length).toBeGreaterThan(20);
  for (const setting of names) {
    const variable = `${setting}S`;
    expect(unknownVariables(settings, { [variable]: '1' }, nearestWord)).toEqual([{ variable, setting }]);
    expect(unknownVariables(settings, { [variable]: '1', [setting]: '1' }, nearestWord)).toEqual([]);
  }
});
