/** A text, or a character that structures objects and arrays. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

interface Level {
  /** Undefined in an array. */
  readonly names: Set<string> | undefined;
  /** Name or index of the current value. */
  at: string | number;
}

/**
 * Path of the first name that an object has twice, which parsers read differently (RFC 8259 section 4); undefined
 * without one.
 *
 * @param json valid JSON
 */
export function repeatedName(json: string): readonly (string | number)[] | undefined {
  const levels: Level[] = [];
  let text = '';
  for (const [token] of json.matchAll(TOKEN)) {
    const level = levels.at(-1);
    if (token === '{') levels.push({ names: new Set(), at: '' });
    else if (token === '[') levels.push({ names: undefined, at: 0 });
    else if (token === '}' || token === ']') levels.pop();
    else if (token === ',') advance(level);
    else if (token !== ':') text = token;
    else if (level?.names !== undefined) {
      level.at = JSON.parse(text) as string;
      if (level.names.has(level.at)) return levels.map(({ at }) => at);
      level.names.add(level.at);
    }
  }
  return undefined;
}

function advance(level: Level | undefined): void {
  if (typeof level?.at === 'number') level.at += 1;
}
