import { isIP } from 'node:net';

import { targetPolicyFaults, type TargetPolicyOptions } from './policy.ts';

/** Parser and description of an operator's setting, compatible with `VariableKind` of the settings package. */
export interface SettingKind {
  readonly name: string;
  /** @throws Error whose message completes the sentence “<VARIABLE> …” */
  readonly parse: (text: string) => string;
}

const range = 'an address or an exact CIDR such as 10.0.0.0/8';

/** Entries of the policy's lists, parsed by the policy itself: no second parser interprets an exception. */
export const policyKinds = {
  allow: policyEntry('allow', range),
  allowNames: policyEntry('allowNames', 'a domain'),
  deny: policyEntry('deny', `a domain, ${range}`),
} as const;

/** `address`, `address:port` or `[address]:port`. */
export const resolverKind: SettingKind = {
  name: '`address`, `address:port` or `[IPv6 address]:port`',
  parse: (value) => {
    const [, bracketed, plain, port] =
      /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(value) ?? (isIP(value) === 6 ? ['', value] : []);
    const address = bracketed ?? plain;
    const family = address === undefined ? 0 : isIP(address);
    const portFits = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
    if (family === 0 || !portFits || (bracketed !== undefined && family !== 6)) {
      throw new Error('must be an address, with a port after a colon where it is not 53');
    }
    return value;
  },
};

function policyEntry(list: 'allow' | 'allowNames' | 'deny', name: string): SettingKind {
  return {
    name,
    parse: (value) => {
      const options: TargetPolicyOptions = { [list]: [value] };
      if (targetPolicyFaults(options).length > 0) throw new Error(`must be ${name}`);
      return value;
    },
  };
}
