import { describe, expect, it } from '@jest/globals';
import {
  comparisonSchema,
  noScreenshot,
  pendingResultSchema,
  resultSchema,
  summarySchema,
  type AnyCheckType,
  type Check,
} from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { cases } from '@vantage/test-support/random/case-count';

import { CHECK_ID, factsOf } from '../test/cases.ts';
import { pick, seeded, shuffled, type Random } from '@vantage/test-support/random/seeded';
import { generate } from '../test/generate.ts';
import { compareChecks, type ComparedCheck } from './compare/compare-checks.ts';
import { probeResultsOf, type ProbeFacts } from './probe-result.ts';
import { findingRules } from './rules.ts';
import { partitionByOutcome } from './partition.ts';
import { summarize } from './summarize.ts';

const CHECKS = cases(40);

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const isSummary = ajv.compile(toJson(summarySchema));
const isComparison = ajv.compile(toJson(comparisonSchema));

const probeIds = ['fra-1', 'ber-1', 'muc-1', 'nyc-1', 'syd-1', 'constructor', 'gone-1', 'hasownproperty'];

interface Sample {
  readonly check: Check;
  readonly probes: ReadonlyMap<string, ProbeFacts>;
}

/** Samples of a type are made once, for its summaries and its comparisons. */
const samplesByType = new Map<CheckTypeName, readonly Sample[]>();

function samplesOf(type: CheckTypeName): readonly Sample[] {
  const samples = samplesByType.get(type) ?? generateSamples(type, CHECKS);
  samplesByType.set(type, samples);
  return samples;
}

function generateSamples(type: CheckTypeName, count: number): readonly Sample[] {
  const checkType: AnyCheckType = checkTypes[type];
  const [final, pending] = [toJson(resultSchema(checkType)), toJson(pendingResultSchema(checkType))];
  const isFinal = ajv.compile(final);
  return Array.from({ length: count }, (_, seed) => {
    const random = seeded(seed + 1);
    const ids = shuffled(random, probeIds).slice(0, Math.floor(random() * (probeIds.length + 1)));
    const results = Object.fromEntries(ids.map((id) => [id, generate(random() < 0.8 ? final : pending, random)]));
    // Validates the test's own input.
    for (const result of Object.values(results)) {
      const { result: word } = result as { readonly result: string };
      if (word !== 'pending' && !isFinal(result)) throw new Error(ajv.errorsText(isFinal.errors));
    }
    const check = {
      testId: CHECK_ID,
      type,
      host: pick(random, ['example.com', '', '\u0000<b>', 'x'.repeat(2_048)]),
      status: pick(random, ['pending', 'completed'] as const),
      createdAt: '2026-01-01T00:00:00.000Z',
      completedAt: null,
      results: results as Check['results'],
      ...(type === 'traceroute' && seed % 2 === 1 ? { between: ['fra-1', 'ber-1'] as [string, string] } : {}),
    };
    return { check, probes: factsOf(ids) };
  });
}

function toJson(schema: unknown): object {
  return JSON.parse(JSON.stringify(schema)) as object;
}

/** Shuffles the keys of every object. */
function reordered(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, random));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    shuffled(random, Object.entries(value)).map(([key, item]) => [key, reordered(item, random)]),
  );
}

describe.each(Object.keys(checkTypes) as CheckTypeName[])('the summary of any %s check', (type) => {
  const samples = samplesOf(type);

  it('is valid by its schema, and keeps to the rules', () => {
    for (const { check, probes } of samples) {
      const summary = summarize(check, probes, { screenshot: noScreenshot });

      if (!isSummary(JSON.parse(JSON.stringify(summary)))) throw new Error(ajv.errorsText(isSummary.errors));
      const isWrong = ({ code, severity, probes: carriers }: (typeof summary.findings)[number]): boolean =>
        !findingRules[code].severities.includes(severity) ||
        !carriers.every((one) => Object.hasOwn(check.results, one));
      expect(summary.findings.filter(isWrong)).toEqual([]);
      const { up, down, silent, notMeasured, pending } = summary.counts;
      expect(up + down + silent + notMeasured + pending).toBe(Object.keys(check.results).length);
      expect(summary.agree).toEqual({ n: Math.max(up, down), of: up + down });
      expect(summary.verdict === 'unknown').toBe(up + down === 0);
      expect(summary.verdict === 'partial').toBe(up > 0 && down > 0);
      expect(summary.headline).not.toMatch(/undefined|NaN|null|\[object/);
      expect(summary.findings.map(({ text }) => text).join()).not.toMatch(/undefined|NaN|null|\[object/);
    }
  });

  it('does not depend on the order of anything', () => {
    for (const { check, probes } of samples) {
      const random = seeded(7);
      const other = reordered(check, random) as Check;

      expect(summarize(other, new Map(shuffled(random, [...probes])))).toEqual(summarize(check, probes));
    }
  });
});

describe.each(Object.keys(checkTypes) as CheckTypeName[])('the comparison of any two %s checks', (type) => {
  const checks = samplesOf(type).map(({ check, probes }): ComparedCheck => ({
    check: { ...check, status: 'completed' },
    summary: summarize(check, probes, { screenshot: noScreenshot }),
  }));
  const pairs = checks.map((a, index) => [a, checks[(index + 1) % checks.length]!] as const);

  it('is valid by its schema, and names what it compares', () => {
    for (const [a, b] of pairs) {
      const comparison = compareChecks(a, b);

      if (!isComparison(JSON.parse(JSON.stringify(comparison)))) throw new Error(ajv.errorsText(isComparison.errors));
      const { probes, result, differences, sentence } = comparison;
      const [ofA, ofB] = [a, b].map(({ check }) => Object.keys(check.results).toSorted());
      expect([...Object.keys(probes), ...comparison.a.probes].toSorted()).toEqual(ofA);
      expect([...Object.keys(probes), ...comparison.b.probes].toSorted()).toEqual(ofB);
      expect(result === 'same').toBe(differences.length === 0 && measuredInBoth(a, b));
      expect(result === 'different').toBe(differences.some(({ certain }) => certain));
      expect(`${sentence} ${differences.map(({ text }) => text).join()}`).not.toMatch(/undefined|NaN|null|\[object/);
    }
  });

  it('has no difference between a check and itself', () => {
    for (const one of checks) {
      const { result, differences } = compareChecks(one, one);
      expect([result, differences]).toEqual([measuredInBoth(one, one) ? 'same' : 'unsure', []]);
    }
    expect(checks.some((one) => measuredInBoth(one, one))).toBe(true);
  });

  it('says nothing of the target by a probe that did not measure', () => {
    let count = 0;
    for (const [a, b] of pairs) {
      for (const [probe, { differences, path }] of Object.entries(compareChecks(a, b).probes)) {
        const isOver = [a, b].some(({ check }) => Object.hasOwn(check.results[probe]!, 'otherFamily'));
        if (isOver || [a, b].every((one) => measuredBy(one).includes(probe))) continue;
        count += 1;
        const claims = differences.filter(({ subject }) => subject !== 'request');
        expect(claims.filter(({ subject, certain }) => certain || subject !== 'outcome')).toEqual([]);
        expect(path).toBeUndefined();
      }
    }
    expect(count).toBeGreaterThan(0);
  });

  it('does not depend on the order of anything, and has the same subjects in both directions', () => {
    for (const [a, b] of pairs) {
      const other = { ...a, check: reordered(a.check, seeded(7)) as Check };
      const there = compareChecks(a, b);
      const subjectsOf = ({ differences }: typeof there) =>
        differences.map(({ subject, certain, probes }) => JSON.stringify([subject, certain, probes])).toSorted();

      expect(compareChecks(other, b)).toEqual(there);
      expect(subjectsOf(compareChecks(b, a))).toEqual(subjectsOf(there));
    }
  });
});

describe('the graph of any paths', () => {
  // More samples than elsewhere, because few of them have a search for all paths.
  const graphs = generateSamples('traceroute', cases(100)).map(({ check, probes }) => ({
    check,
    ...summarize(check, probes).paths!,
  }));

  it('has every node once, and edges between two of them', () => {
    for (const { nodes, edges, ends } of graphs) {
      const ids = new Set(nodes.map(({ id }) => id));
      expect(ids.size).toBe(nodes.length);
      expect(new Set(edges.map(({ from, to }) => `${from} ${to}`)).size).toBe(edges.length);
      expect(edges.filter(({ from, to }) => !ids.has(from) || !ids.has(to) || from === to)).toEqual([]);
      expect(ends.filter(({ node }) => !ids.has(node))).toEqual([]);
    }
  });

  it('leads from each probe to each node of its path, and to an end', () => {
    for (const { check, nodes, edges, ends } of graphs) {
      const traced = Object.keys(check.results).filter((probe) => tracesIn(check.results[probe]!).length > 0);
      expect(nodes.filter(({ kind }) => kind === 'probe').map(({ id }) => id)).toEqual(
        traced.map((probe) => `probe:${probe}`).toSorted(),
      );
      for (const probe of traced) {
        const own = edges.filter(({ probes }) => probes.includes(probe));
        const reached = new Set([`probe:${probe}`]);
        for (let size = 0; size < reached.size;) {
          size = reached.size;
          for (const { from, to } of own) if (reached.has(from)) reached.add(to);
        }
        const onPath = nodes.filter(({ probes }) => probes.includes(probe)).map(({ id }) => id);
        expect([...reached].toSorted()).toEqual(onPath.toSorted());
        const ownEnds = ends.filter(({ probes }) => probes.includes(probe));
        expect(ownEnds.length).toBeGreaterThanOrEqual(1);
        // Each flow that ends elsewhere, and each broken branch of a search, has a separate path end.
        const [only, ...others] = tracesIn(check.results[probe]!);
        const isOfOneFlow = others.length === 0 && (only?.flows ?? []).length < 2 && only?.multipath === undefined;
        if (isOfOneFlow) expect(ownEnds).toHaveLength(1);
      }
    }
  });
});

interface TraceFields {
  readonly hops?: readonly unknown[];
  readonly flows?: readonly unknown[];
  readonly multipath?: unknown;
  readonly otherFamily?: TraceFields | null;
}

/** The traces of a result: one for each address family with hops. */
function tracesIn(result: object): readonly TraceFields[] {
  const { otherFamily, ...own } = result as TraceFields;
  return [own, otherFamily ?? {}].filter(({ hops = [] }) => hops.length > 0);
}

/** True if some probe measured the target in both checks. */
function measuredInBoth(a: ComparedCheck, b: ComparedCheck): boolean {
  const ofB = measuredBy(b);
  return measuredBy(a).some((probe) => ofB.includes(probe));
}

/** Probes whose results count as measured: final, and evidence about the target or its silence. */
function measuredBy({ check }: ComparedCheck): readonly string[] {
  const { of } = partitionByOutcome(check.type, probeResultsOf(check, new Map()));
  return [...of].flatMap(([probe, evidence]) => (['notMeasured', 'pending'].includes(evidence) ? [] : [probe]));
}
