/**
 * Style sheet of the pages of `renderPage`: light and dark, one column, scrolling tables.
 *
 * @param font path of the web page's font, used only if it is loaded before the text is shown; undefined if the
 * page has not been built
 */
export function styleSheet(font: string | undefined): string {
  return `${font === undefined ? '' : `@font-face { font-family: 'Geist Variable'; font-weight: 400 700; font-display: optional; src: url('${font}') format('woff2'); }`}${RULES}`;
}

const RULES = `
/* Same colours as the web page. */
:root { color-scheme: light dark; --ink: light-dark(#10181d, #e9eff2); --dim: light-dark(#55636d, #94a4ae); --line: light-dark(#e2e7ea, #212b31); --paper: light-dark(#f6f7f8, #0c1013); --well: light-dark(#eef1f3, #12181c); --accent: light-dark(#0b62c4, #6db4ff); --get: light-dark(#0a7548, #3fd79a); --post: light-dark(#8a5800, #f0b64b); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 'Geist Variable', system-ui, -apple-system, 'Segoe UI', sans-serif; font-variant-numeric: tabular-nums; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:focus-visible, summary:focus-visible, .scroll:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: 0.875em/1.5 ui-monospace, 'SFMono-Regular', Menlo, Consolas, monospace; }
code { background: var(--well); padding: 0.1em 0.3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--well); border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1rem; overflow-x: auto; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
h1, h2, h3 { font-weight: 620; letter-spacing: -0.02em; }
h1 { font-size: 2.1rem; line-height: 1.15; margin: 0 0 0.5rem; letter-spacing: -0.03em; }
h2 { font-size: 1.4rem; margin: 3rem 0 0.75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
h4 { font-size: 0.95rem; margin: 1.25rem 0 0.4rem; color: var(--dim); }
.top { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: baseline; padding: 0.9rem 1.5rem; max-width: 65rem; margin: 0 auto; }
.top nav { display: flex; flex-wrap: wrap; gap: 1rem; margin-left: auto; }
.top nav a { color: var(--dim); text-decoration: none; }
.top nav a:hover { color: var(--ink); }
.brand svg { vertical-align: -0.3em; margin-right: 0.15rem; }
.brand rect { fill: var(--ink); }
.brand path { fill: none; stroke: var(--paper); stroke-width: 2.6; stroke-linecap: round; stroke-linejoin: round; }
.brand circle { fill: light-dark(#12a36a, #3ddc97); }
.brand { font-weight: 650; font-size: 1.06rem; letter-spacing: -0.02em; color: var(--ink); text-decoration: none; }
main { padding: 2rem 1.5rem 5rem; max-width: 62rem; margin: 0 auto; }
main.narrow { max-width: 44rem; }
.lead { font-size: 1.1rem; color: var(--dim); }
.kicker { color: var(--dim); margin: 0; font-size: 0.9rem; }
/* The page is forty screens long: operations out of view are not laid out. */
.operation { content-visibility: auto; contain-intrinsic-size: auto 45rem; }
.toc { columns: 16rem; column-gap: 2.5rem; padding-left: 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.93rem; }
th, td { text-align: left; vertical-align: top; padding: 0.45rem 0.75rem 0.45rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--dim); font-weight: 550; }
td > p:first-child { margin-top: 0; }
th[scope='row'] { font-weight: 400; white-space: nowrap; }
td.kind { white-space: nowrap; color: var(--dim); }
.note { color: var(--dim); font-size: 0.9em; }
.verb { font: 650 0.8rem ui-monospace, Menlo, Consolas, monospace; padding: 0.15rem 0.45rem; border: 1px solid; border-radius: 5px; }
.verb.get { color: var(--get); }
.verb.post { color: var(--post); }
details { border: 1px solid var(--line); border-radius: 8px; margin: 0.6rem 0; padding: 0 1rem; }
details[open] { padding-bottom: 0.8rem; }
summary { cursor: pointer; padding: 0.6rem 0; font-weight: 550; }
dt { color: var(--dim); font-size: 0.9rem; }
dd { margin: 0 0 0.8rem; }
`;
