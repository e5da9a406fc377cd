import type { Description } from '../../shared/description.ts';
import { told } from '../../shared/result-text.ts';
import type { info } from './contract.ts';

export const description: Description<typeof info> = {
  line: ({ hostname, asn, asName, city, country }) => [
    told(hostname),
    told(asn, (number) => `${number} ${asName ?? ''}`.trimEnd()),
    [told(city), told(country)].filter((part) => part !== undefined).join(', ') || undefined,
  ],
};
