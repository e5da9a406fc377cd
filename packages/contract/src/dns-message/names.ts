/** Names are in presentation form and fully qualified, as `name.ts` decodes them. */

/** Compares names; the case of ASCII letters is ignored (RFC 4343). */
export function sameName(left: string, right: string): boolean {
  return lowerCase(left) === lowerCase(right);
}

/** True if `name` is `zone` or below it. */
export function isWithin(name: string, zone: string): boolean {
  const [inner, outer] = [lowerCase(name), lowerCase(zone)];
  if (outer === '.' || inner === outer) return true;
  return inner.endsWith(`.${outer}`) && !isEscaped(inner, inner.length - outer.length - 1);
}

/**
 * Applies a DNAME record to a name below its owner (RFC 6672 section 2.2).
 *
 * @returns undefined if the name is not below the owner
 */
export function renamed(name: string, owner: string, target: string): string | undefined {
  if (sameName(name, owner) || !isWithin(name, owner)) return undefined;
  if (owner === '.') return `${name.slice(0, -1)}.${target === '.' ? '' : target}`;
  const prefix = name.slice(0, name.length - owner.length);
  return target === '.' ? prefix : `${prefix}${target}`;
}

const label = /(?:\\.|[^.\\])+\./gs;

/**
 * Makes up a name in the top-level domain of another one, which a cache has by chance only. A resolver may still derive
 * the answer from cached proofs (RFC 8198; see `isFromNameServer`).
 *
 * @returns undefined for the root and top-level domains
 */
export function uncachedName(neighbour: string): string | undefined {
  const labels = neighbour.match(label) ?? [];
  return labels.length < 2 ? undefined : `${uncachedTopLevelDomain()}${labels.at(-1)}`;
}

/** Makes up a top-level domain, which exists by chance only. */
export function uncachedTopLevelDomain(): string {
  const letters = Array.from({ length: 16 }, () => Math.floor(Math.random() * 26).toString(36));
  return `${letters.join('')}.`;
}

/** True for a dot inside a label: an odd number of backslashes precedes it (RFC 1035 section 5.1). */
function isEscaped(name: string, dot: number): boolean {
  let first = dot;
  while (name[first - 1] === '\\') first--;
  return (dot - first) % 2 === 1;
}

/** Lowers ASCII letters: two names are the same if these forms are. */
export function lowerCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
