import { pick, type Random } from '@vantage/test-support/random/seeded';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly then?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

/** Few values, so that comparisons often find equal ones. */
const texts = [
  '',
  '192.0.2.1',
  '192.0.2.2',
  '203.0.113.1',
  '2001:db8::1',
  'https://example.com/',
  'http://other.example/a',
  '/a',

  'NOERROR',
  'NXDOMAIN',
  'A',
  'MX',
  'constructor',
  '__proto__',
  '<b>',
  '\u202Etxt\u0000',
  '\uD800',
  'O=Example',
  '!X',
];

const ofPattern: Readonly<Record<string, readonly string[]>> = {
  '^AS[0-9]{1,10}$': ['AS64500', 'AS64501'],
  '^[A-Z]{2}$': ['DE', 'ZZ'],
  '^[0-9a-f]{64}$': ['0'.repeat(64)],
};

/** Generates a valid value; supports the part of JSON Schema that result schemas use. */
export function generate(schema: Schema, random: Random): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return pick(random, schema.enum);
  if (schema.anyOf !== undefined) return generate(pick(random, schema.anyOf), random);
  switch (schema.type ?? 'null') {
    case 'object':
      return objectOf(schema, random);
    case 'array':
      return arrayOf(schema, random);
    case 'string':
      return textOf(schema, random);
    case 'integer':
      return Math.floor(numberOf(schema, random));
    case 'number':
      return numberOf(schema, random);
    case 'boolean':
      return random() < 0.5;
    default:
      return null;
  }
}

/** Includes all fields that a success requires, for any outcome. */
function objectOf({ properties = {}, required = [], then }: Schema, random: Random): object {
  const needed = new Set([...required, ...(then?.required ?? [])]);
  const chosen = Object.entries(properties).filter(([name]) => needed.has(name) || random() < 0.8);
  return Object.fromEntries(chosen.map(([name, schema]) => [name, generate(schema, random)]));
}

function arrayOf({ items = {}, minItems = 0, maxItems = 6 }: Schema, random: Random): unknown[] {
  const length = Math.max(minItems, Math.floor(random() * (Math.min(maxItems, 6) + 1)));
  return Array.from({ length }, () => generate(items, random));
}

function textOf({ pattern, format, maxLength = 300 }: Schema, random: Random): string {
  if (format === 'date-time') return '2026-01-01T00:00:00.000Z';
  if (pattern !== undefined) {
    const samples = ofPattern[pattern];
    if (samples === undefined) throw new Error(`no text is known for ${pattern}`);
    return pick(random, samples);
  }
  return random() < 0.05 ? 'y'.repeat(maxLength) : pick(random, texts).slice(0, maxLength);
}

function numberOf({ minimum = 0, maximum = 1e9 }: Schema, random: Random): number {
  const edge = random();
  if (edge < 0.1) return minimum;
  if (edge < 0.15) return maximum;
  return minimum + random() * Math.min(maximum - minimum, pick(random, [5, 500, 5_000]));
}
