import { isIP } from 'node:net';

import type { VariableKind } from '@vantage/settings';

export const network: VariableKind<string> = {
  name: 'IP address or CIDR',
  parse: (value) => {
    const [address = '', length, ...rest] = value.split('/');
    const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const lengthFits = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
    if (bits < 0 || !lengthFits || rest.length > 0) throw new Error('must be an IP address or a CIDR');
    return value;
  },
};
