import { isIP } from 'node:net';

import { addressBytes, addressText, networkText } from '@vantage/contract/address';
import type { VariableKind } from '@vantage/settings';

export const network: VariableKind<string> = {
  name: 'an address or an exact CIDR such as 10.0.0.0/8',
  parse: (value) => {
    const [address = '', length, ...rest] = value.split('/');
    const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const lengthFits = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
    if (bits < 0 || !lengthFits || rest.length > 0) throw new Error('must be an IP address or a CIDR');
    if (length !== undefined) refuseHostBits(address, Number(length));
    return value;
  },
};

/** With bits beyond the length, the network may be larger than the operator meant. */
function refuseHostBits(address: string, length: number): void {
  const bytes = addressBytes(address);
  const exact = networkText(bytes, length);
  if (exact !== `${addressText(bytes)}/${length}`) throw new Error(`must be ${exact}, or the address alone`);
}
