import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { Page } from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Accessibility violations by the rules of axe. The contrast, whose examination takes more CPU time than all other
 * rules together, is examined at one element of each kind: elements of a kind have the same text style and backgrounds.
 */
export async function axeViolations(page: Page): Promise<readonly unknown[]> {
  return runAxe(page, `{ resultTypes: ['violations'] }`);
}

/** Violations of the rules of colour alone, for another colour scheme or width of a page whose elements are the same. */
export async function colourViolations(page: Page): Promise<readonly unknown[]> {
  return runAxe(page, `{ resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block'] }`);
}

/**
 * Marks one element of each kind, for the rule of contrast. The backgrounds below a positioned element do not follow from
 * its ancestors, so each positioned element begins other kinds.
 */
const markKinds = `(() => {
  const below = new Map([[null, '']]);
  const kinds = new Map();
  globalThis.kindOf = new WeakMap();
  globalThis.linksSeen = new Set();
  let positioned = 0;
  for (const element of document.querySelectorAll('*')) {
    const { color, fontSize, fontWeight, opacity, backgroundColor, backgroundImage, position } = getComputedStyle(element);
    const own = [backgroundColor, backgroundImage, opacity].join();
    let all = below.get(element.parentElement);
    if (own !== 'rgba(0, 0, 0, 0),none,1') all += own;
    if (position !== 'static' && position !== 'relative') all += (positioned += 1);
    below.set(element, all);
    const hasText = element.matches('input, select, textarea') || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    const kind = [color, fontSize, fontWeight, all].join();
    kindOf.set(element, kind);
    if (hasText && !kinds.has(kind) && element.checkVisibility()) kinds.set(kind, element);
  }
  for (const element of kinds.values()) element.dataset.kind = '';
})()`;

/**
 * The rule for links in a text examines the first link of each kind: with the same style in a text with the same style.
 * It compares the backgrounds of both, which for all links takes half of the CPU time of the examination.
 */
const isNewKindOfLink = `function (link) {
  const { dom } = axe.commons;
  if (link.innerText.trim() === '' || !dom.isVisibleOnScreen(link) || !dom.isInTextBlock(link)) return false;
  let text = link.parentElement;
  while (getComputedStyle(text).display === 'inline') text = text.parentElement;
  const { display, textDecorationLine, fontFamily, fontStyle, borderStyle, borderWidth } = getComputedStyle(link);
  const own = [display, textDecorationLine, fontFamily, fontStyle, borderStyle, borderWidth];
  const kind = [...own, kindOf.get(link), kindOf.get(text), getComputedStyle(text).fontFamily].join();
  const isNew = !linksSeen.has(kind);
  linksSeen.add(kind);
  return isNew;
}`;

const configure = `axe.configure({ rules: [
  { id: 'color-contrast', selector: '[data-kind]' },
  { id: 'link-in-text-block', matches: ${isNewKindOfLink} },
] })`;

async function runAxe(page: Page, options: string): Promise<readonly unknown[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(`${axe}\n${configure}`);
  await page.evaluate(markKinds);
  const run = `axe.run(document, ${options}).then(({ violations }) => {
    for (const element of document.querySelectorAll('[data-kind]')) delete element.dataset.kind;
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary) }));
  })`;
  return (await page.evaluate(run)) as readonly unknown[];
}
