/**
 * Whether an `Accept-Encoding` header requests the expected coding of the body, by the rules of blackbox_exporter: in
 * descending order of quality, the first entry that is the coding or `*` must have a quality above 0. True if either is
 * empty.
 */
export function acceptsEncoding(coding: string, header: string): boolean {
  if (coding === '' || header === '') return true;
  const entries = header.split(',').map((part) => {
    const at = part.lastIndexOf(';');
    if (at < 0) return { name: part.trim(), quality: 1 };
    const quality = Number(
      part
        .slice(at + 1)
        .trim()
        .replace(/^q=/, ''),
    );
    return { name: part.slice(0, at).trim(), quality: Number.isNaN(quality) ? 0 : Math.round(quality * 1_000) / 1_000 };
  });
  const found = entries
    .toSorted((one, other) => other.quality - one.quality)
    .find(({ name }) => name === coding || name === '*');
  return found !== undefined && found.quality > 0;
}
