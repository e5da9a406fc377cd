import { describe, expect, it } from '@jest/globals';

import { made, now, signatures, trusting, type Made } from '../../../test/made-certificate.ts';
import type { Certificate } from './certificate.ts';
import { buildPath } from './path.ts';
import type { TrustAnchors } from './trust-store.ts';

function pathOf(sent: readonly Certificate[], anchors: TrustAnchors): readonly [string, boolean, boolean] {
  const { certificates, isAnchored, isSound } = buildPath(sent, anchors, now);
  return [certificates.map(({ fingerprint }) => fingerprint).join(' < '), isAnchored, isSound];
}

const root = made({ name: 'root', subject: 'R', issuer: 'R', signer: 'root' });
const upper = made({ name: 'upper', subject: 'U', issuer: 'R', signer: 'root' });
const lower = made({ name: 'lower', subject: 'L', issuer: 'U', signer: 'upper' });
const leaf = made({ name: 'leaf', subject: 'x', issuer: 'L', signer: 'lower' });
const other = made({ name: 'other', subject: 'O', issuer: 'O', signer: 'other' });

describe('a path', () => {
  it.each([
    ['in order', [leaf, lower, upper]],
    ['in the other order', [leaf, upper, lower]],
    ['with the root', [leaf, root, upper, lower]],
    ['among others', [leaf, other, upper, other, lower]],
  ])('is found %s', (_reason, sent) => {
    expect(pathOf(sent, trusting(root))).toEqual(['leaf < lower < upper < root', true, true]);
  });

  it('goes as far as it can without a trusted root', () => {
    expect(pathOf([leaf, lower], trusting(root))).toEqual(['leaf < lower', false, false]);
    expect(pathOf([leaf, upper, lower, root], trusting())).toEqual(['leaf < lower < upper < root', false, false]);
  });

  it('leads by a certificate that is valid, where there is another of its name', () => {
    const old = made({ ...asMade(lower), name: 'old', key: 'lower', isExpired: true });

    expect(pathOf([leaf, old, lower, upper], trusting(root))[0]).toBe('leaf < lower < upper < root');
    expect(pathOf([leaf, old, upper], trusting(root))).toEqual(['leaf < old < upper < root', true, false]);
  });

  it('prefers the key that signed to one of the same name, and shows that one where there is no other', () => {
    const namesake = made({ ...asMade(lower), name: 'namesake' });

    expect(pathOf([leaf, namesake, lower, upper], trusting(root))[0]).toBe('leaf < lower < upper < root');
    expect(pathOf([leaf, namesake, upper], trusting(root))).toEqual(['leaf < namesake < upper < root', true, false]);
  });

  it('ends at a certificate that signed itself, though a trusted one has its name', () => {
    const itself = made({ name: 'itself', subject: 'R', issuer: 'R', signer: 'itself' });

    expect(pathOf([itself], trusting(root))).toEqual(['itself', false, false]);
  });

  it('ends where certificates issue one another in a circle, after a bounded number of signatures', () => {
    const named = (subject: string, issuer: string) => (_: unknown, at: number) =>
      made({ name: `${subject}${at}`, subject, issuer, signer: issuer, key: subject });
    const circle = [...Array.from({ length: 60 }, named('L', 'U')), ...Array.from({ length: 60 }, named('U', 'L'))];
    const low = made({ name: 'low', subject: 'x', issuer: 'L', signer: 'L' });
    signatures.verified = 0;

    const { certificates, isAnchored } = buildPath([low, ...circle], trusting(root), now);

    expect(isAnchored).toBe(false);
    expect(certificates.length).toBeLessThanOrEqual(101);
    expect(signatures.verified).toBeLessThanOrEqual(200);
  });
});

function asMade({ fingerprint, subject, issuer }: Certificate): Made {
  return { name: fingerprint, subject, issuer, signer: 'upper' };
}
