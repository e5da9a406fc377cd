/** Leaves out the middle of a long text: a name of a host ends with its domain and port, which say more. */
export function shortened(text: string, most: number): string {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const head = Math.floor((most - 1) / 2);
  return `${characters.slice(0, head).join('')}…${characters.slice(head + 1 - most).join('')}`;
}
