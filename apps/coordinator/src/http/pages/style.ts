/** The one style sheet of the pages: light and dark, one column, wide tables scroll inside themselves. */
export const styleSheet = `
:root { --ink: #1d2330; --dim: #5b6475; --line: #dfe3ea; --paper: #fff; --well: #f5f7fa; --accent: #1a5fb4; --get: #1a7f5a; --post: #8a4b08; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --dim: #9aa4b5; --line: #2e3542; --paper: #14181f; --well: #1c222c; --accent: #7ab0f5; --get: #58c99b; --post: #e0a458; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: 0.875em/1.5 ui-monospace, 'SFMono-Regular', Menlo, Consolas, monospace; }
code { background: var(--well); padding: 0.1em 0.3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--well); border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1rem; overflow-x: auto; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 0.5rem; }
h2 { font-size: 1.4rem; margin: 3rem 0 0.75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
h4 { font-size: 0.95rem; margin: 1.25rem 0 0.4rem; color: var(--dim); }
.top { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: baseline; padding: 0.9rem 1.5rem; border-bottom: 1px solid var(--line); }
.top nav { display: flex; flex-wrap: wrap; gap: 1rem; }
.brand { font-weight: 650; color: var(--ink); text-decoration: none; }
main { padding: 2rem 1.5rem 5rem; max-width: 62rem; margin: 0 auto; }
main.narrow { max-width: 44rem; }
.lead { font-size: 1.1rem; color: var(--dim); }
.kicker { color: var(--dim); margin: 0; font-size: 0.9rem; }
.toc { columns: 16rem; padding-left: 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.93rem; }
th, td { text-align: left; vertical-align: top; padding: 0.45rem 0.75rem 0.45rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--dim); font-weight: 550; }
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
