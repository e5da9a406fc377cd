import { Type } from '@vantage/contract';

/** Option of the check types that send their packets themselves. */
export const dscpSchema = Type.Integer({
  minimum: 0,
  maximum: 63,
  description:
    'Differentiated services code point of the packets (RFC 2474), such as 46 for expedited forwarding; 0 if absent.',
});
