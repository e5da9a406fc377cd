import { describe, expect, it } from '@jest/globals';

import { made, now, trusting } from '../../../test/made-certificate.ts';
import type { Certificate } from './certificate.ts';
import { issuerEndOf } from './issuer-end.ts';
import { buildPath } from './path.ts';

const leaf = made({ name: 'leaf', subject: 'x', issuer: 'I', signer: 'key', days: 80 });
const intermediate = (name: string, days: number): Certificate =>
  made({ name, subject: 'I', issuer: 'R', signer: 'root', key: 'key', days });
const rootOf = (days: number): Certificate => made({ name: 'root', subject: 'R', issuer: 'R', signer: 'root', days });
const [long, middle, short] = [intermediate('long', 500), intermediate('middle', 40), intermediate('short', 3)];

function endOf(sent: readonly Certificate[], root = rootOf(3_000)): number | undefined {
  const anchors = trusting(root);
  return issuerEndOf(sent, anchors, buildPath(sent, anchors, now), now)?.daysLeft;
}

describe('the end of a chain', () => {
  it.each([
    ['no certificate above ends first', [leaf, long], undefined],
    ['the intermediate ends first', [leaf, short], 3],
    ['its successor was sent behind it', [leaf, short, long], undefined],
    ['its successor was sent before it', [leaf, long, short], undefined],
    ['its successor ends first too', [leaf, short, middle], 40],
    ['the successor of its successor was sent', [leaf, short, middle, long], undefined],
    ['no chain is sound', [leaf], undefined],
  ])('%s', (_reason, sent, days) => {
    expect(endOf(sent)).toBe(days);
  });

  it.each([
    ['the intermediate ends first, and the root was not sent', [leaf, short], 3],
    ['its successor was sent', [leaf, short, long], undefined],
    ['the root was sent, and ends first', [leaf, long, rootOf(4)], 4],
    ['no certificate above was sent', [leaf], undefined],
    ['no certificate above ends first', [leaf, long, rootOf(3_000)], undefined],
  ])('without a trusted root: %s', (_reason, sent, days) => {
    expect(endOf(sent, made({ name: 'other', subject: 'O', issuer: 'O', signer: 'other' }))).toBe(days);
  });

  it('may be that of the root', () => {
    expect(endOf([leaf, long], rootOf(5))).toBe(5);
  });
});
