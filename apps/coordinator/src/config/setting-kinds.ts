import { checkTypes } from '@vantage/diagnostics/contract';
import { list, url, type VariableKind } from '@vantage/settings';

import type { TrustedProxies } from '../app.ts';
import { readWebhookSecret } from '../monitors/webhooks/signature.ts';
import { network } from './network-kind.ts';

export const trustedProxies: VariableKind<TrustedProxies | undefined> = {
  name: 'number of proxies, or comma-separated list of addresses and CIDRs',
  parse: (value) => {
    if (value === '0') return undefined;
    if (/^[1-9]\d?$/.test(value)) return Number(value);
    const entries = list(network).parse(value);
    if (entries.length === 0) throw new Error('must be a number of proxies from 0 to 99, or addresses and CIDRs');
    return entries;
  },
};

const typeCost: VariableKind<readonly [type: string, cost: number]> = {
  name: '`type=cost` with a cost from 0 to 1000',
  parse: (value) => {
    const [type = '', cost = '', ...rest] = value.split('=');
    const isCost = /^\d{1,4}$/.test(cost) && Number(cost) <= 1_000;
    if (!Object.hasOwn(checkTypes, type) || !isCost || rest.length > 0) {
      throw new Error(`must be a check type (${Object.keys(checkTypes).join(', ')}), =, and a cost from 0 to 1000`);
    }
    return [type, Number(cost)];
  },
};

export const typeCosts: VariableKind<ReadonlyMap<string, number>> = {
  name: list(typeCost).name,
  parse: (value) => {
    const entries = list(typeCost).parse(value);
    const costs = new Map(entries);
    if (costs.size < entries.length) throw new Error('must have each check type once');
    return costs;
  },
};

const ownPaths: ReadonlySet<string> = new Set([
  'check',
  'probes',
  'probe',
  'sd',
  'monitors',
  'metrics',
  'me',
  'docs',
  'problems',
  'healthz',
  'readyz',
  'agent',
]);

/** One secret, or two during a rotation. The error has no part of the value. */
export const webhookSecrets: VariableKind<readonly Buffer[]> = {
  name: '`whsec_` and base64, or two of these separated by a comma',
  parse: (value) => {
    const secrets = value.split(',').map((part) => readWebhookSecret(part.trim()));
    if (secrets.length > 2 || !secrets.every((secret) => secret !== undefined)) {
      throw new Error('must be whsec_ and 24 to 64 bytes in base64, or two of these separated by a comma');
    }
    return secrets;
  },
};

export const publicUrl: VariableKind<string> = {
  name: 'absolute http(s) URL, with a path prefix if there is one',
  parse: (value) => {
    const checked = url(['http:', 'https:']).parse(value);
    const { pathname, search, hash, username, password } = new URL(checked);
    if (search !== '' || hash !== '' || username !== '' || password !== '') {
      throw new Error('must have no query, fragment or credentials');
    }
    // Routes are also served without the prefix, so a prefix that is a path of the service would be ambiguous.
    const [, first = ''] = pathname.split('/');
    if (ownPaths.has(first)) throw new Error(`must not have the path prefix /${first}, which is a path of the service`);
    return checked;
  },
};
