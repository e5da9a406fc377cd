import type { FormValues } from '../values.ts';

/** Fields that select the probes of a check. */
export const SELECTION = ['locations', 'probes', 'limit'] as const;

/** A selection of probes with a name; stored in this browser only. */
export interface SavedGroup {
  readonly name: string;
  readonly values: FormValues;
}

const KEY = 'vantage.groups';
const MOST = 50;
const LONGEST_NAME = 40;

export function savedGroups(): readonly SavedGroup[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isSavedGroup) : [];
  } catch {
    return [];
  }
}

/** Adds a group, or replaces the one of that name. Beyond the maximum, the oldest is dropped. */
export function saveGroup(name: string, values: FormValues): void {
  const group = { name: name.trim().slice(0, LONGEST_NAME), values: selectionOf(values) };
  write([...savedGroups().filter((other) => other.name !== group.name), group]);
}

export function removeGroup(name: string): void {
  write(savedGroups().filter((group) => group.name !== name));
}

/** The selection among the values of a form, without empty fields. */
export function selectionOf(values: FormValues): FormValues {
  const entries = SELECTION.map((name) => [name, String(values[name] ?? '').trim()] as const);
  return Object.fromEntries(entries.filter(([, text]) => text !== ''));
}

export function isSameSelection(one: FormValues, other: FormValues): boolean {
  const [a, b] = [selectionOf(one), selectionOf(other)];
  return SELECTION.every((name) => a[name] === b[name]);
}

function write(groups: readonly SavedGroup[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(groups.slice(-MOST)));
  } catch {
    // Storage is full or blocked: nothing is stored.
  }
}

function isSavedGroup(value: unknown): value is SavedGroup {
  if (typeof value !== 'object' || value === null) return false;
  const { name, values } = value as Record<string, unknown>;
  if (typeof name !== 'string' || typeof values !== 'object' || values === null) return false;
  return Object.values(values).every((field) => typeof field === 'string');
}
