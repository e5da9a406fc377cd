/** Markup, which `html` inserts as it is. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | undefined | readonly Part[];

/** Template tag that escapes every value except `Html`; joins lists, and omits `undefined`. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  const parts = strings.map((text, index) => `${dense(text)}${render(values[index])}`);
  return { markup: parts.join('') };
}

/** Removes the indentation of the templates. Between tags, a line break renders as one space. */
function dense(text: string): string {
  return text.replaceAll(/\n\s*/g, '\n');
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part));
  if ('markup' in part) return part.markup;
  return part.map(render).join('');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Renders the markup of descriptions: paragraphs separated by an empty line, numbered lists, and `code`. */
export function prose(text: string): Html {
  return html`${text.split(/\n{2,}/).map(block)}`;
}

function block(text: string): Html {
  if (!text.startsWith('1. ')) return html`<p>${inline(text)}</p> `;
  return html`<ol>
    ${text
      .split(/^\d+\. /m)
      .slice(1)
      .map((item) => html`<li>${inline(item)}</li> `)}
  </ol> `;
}

/** Renders a text whose parts in backticks are code. */
export function inline(text: string): Html {
  const parts = text.split(/`([^`]*)`/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
