/** A word or phrase that the glossary (docs/terms.md) lists as not to use. */
export interface Banned {
  /** The word or phrase in the notation of the glossary. */
  readonly word: string;
  readonly pattern: RegExp;
}

const OWNERS = 'its|their|his|your|our|my';

/** Words that may follow a phrase without being part of it. */
const NEXT = String.raw`(?:and|as|at|but|by|for|from|if|in|is|of|on|or|so|than|that|to|when|where|which|with)\b`;

export const banned: readonly Banned[] = [
  { word: 'anew', pattern: /\banew\b/i },
  { word: 'befell', pattern: /\bbef(?:e|a)ll(?:s|en|ing)?\b/i },
  { word: 'beside', pattern: /\bbeside\b/i },
  { word: 'by itself', pattern: /\bby\s+(?:itself|himself|themselves)\b/i },
  { word: 'for ever', pattern: /\bfor\s+ever\b/i },
  { word: 'lent', pattern: /\b(?:lends?|lent|lending)\b/i },
  { word: 'nobody', pattern: /\bnobody\b/i },
  { word: 'whoever', pattern: /\bwho(?:so)?ever\b/i },
  { word: 'shall', pattern: /\bshall\b/i },
  { word: 'photographer', pattern: /\bphotographers?\b/i },
  { word: 'standstill', pattern: /\b[Ss]tandstill/ },
  { word: 'judge', pattern: /\bjudge[A-Z]\w*/ },
  { word: 'is told', pattern: /\b(?:is|are|was|were|be|been)\s+(?:not\s+)?(?:told|said)\b/i },
  { word: 'of ours', pattern: /\bof\s+(?:ours|yours|theirs)\b/i },
  // "The end of its own process" is emphatic; "a process of its own" means "an own process".
  { word: 'of its own', pattern: new RegExp(String.raw`\bof\s+(?:${OWNERS})\s+own\b(?!\s+(?!${NEXT})\w)`, 'i') },
];

/** A banned word in a text. */
export interface Violation {
  readonly line: number;
  readonly word: string;
}

/** @returns each banned word of a text, by line; a phrase may span two lines */
export function findBanned(text: string): readonly Violation[] {
  return banned
    .flatMap(({ word, pattern }) =>
      [...text.matchAll(new RegExp(pattern, `g${pattern.flags}`))].map(({ index }) => ({
        line: text.slice(0, index).split('\n').length,
        word,
      })),
    )
    .toSorted((a, b) => a.line - b.line);
}

/** Removes code and link targets from Markdown and keeps its line numbers. */
export function proseOf(markdown: string): string {
  return markdown
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, blank)
    .replaceAll(/`[^`\n]+`/g, blank)
    .replaceAll(/\]\([^)\s]*\)/g, blank);
}

/** TypeScript without the leaders of comment lines, so that phrases read on from line to line. */
export function textOf(source: string): string {
  return source.replaceAll(/(?<=\n)[ \t]*(?:\*(?!\/)|\/\/)/g, blank);
}

/** Headings that are questions; `How to` is allowed because it names a task. */
const RIDDLE = /^#+ (?:how(?! to\b)|what|when|where|which|who|whom|whose|why)\b/i;

/** @returns the headings that begin with a question word and name no task */
export function findRiddles(markdown: string): readonly string[] {
  return markdown.split('\n').filter((line) => RIDDLE.test(line));
}

/** The anchor that GitHub generates for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The anchors of a page. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const headings = markdown.replaceAll(/^ *```[\s\S]*?^ *```/gm, blank).split('\n');
  return new Set(headings.filter((line) => /^#+ /.test(line)).map(anchorOf));
}

/** Blanks in place of a text, and its line breaks. */
function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
