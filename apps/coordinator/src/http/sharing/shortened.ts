/** Truncates in the middle: the end of a host contains its domain and port. */
export function shortened(text: string, most: number): string {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const head = Math.floor((most - 1) / 2);
  return `${characters.slice(0, head).join('')}…${characters.slice(head + 1 - most).join('')}`;
}
