/** The styles of the reference page, for light and dark mode and for wide and narrow screens. */
export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --text: light-dark(#1c2127, #e4e7eb); --dim: light-dark(#57606a, #9aa4af);
  --line: light-dark(#d9dee3, #333b45); --soft: light-dark(#f5f7f9, #1b2129); --accent: light-dark(#0b57d0, #8ab4f8); }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); color: var(--text);
  background: light-dark(#fff, #12161b); font: 15px/1.55 system-ui, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem; border-right: 1px solid var(--line); font-size: 14px; }
nav ul { list-style: none; margin: 0; padding: 0; } nav > ul > li { margin-bottom: 1rem; font-weight: 600; }
nav li li { font-weight: 400; } nav li a { display: block; padding: .15rem 0; } .title { font-weight: 700; margin-top: 0; }
main { padding: 1.5rem 2.5rem 6rem; max-width: 62rem; } h1 { margin-top: 0; } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
section { padding-top: .5rem; margin-bottom: 2.5rem; scroll-margin-top: 1rem; } h3 { margin-bottom: .25rem; }
a { color: var(--accent); } code, pre { font: 13px/1.5 ui-monospace, monospace; } code { overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; margin: .75rem 0; font-size: 14px; } caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); font-weight: 400; }
thead th { color: var(--dim); font-size: 13px; } td:nth-child(2) { color: var(--dim); min-width: 9rem; }
.required { color: var(--accent); font-size: 12px; } .path { margin: .25rem 0; }
.method { display: inline-block; min-width: 4.2rem; padding: 0 .4rem; border: 1px solid var(--line); border-radius: 4px; text-align: center; font: 600 12px/1.7 ui-monospace, monospace; }
details { border-bottom: 1px solid var(--line); padding: .3rem 0; } summary { cursor: pointer; } .status { display: inline-block; min-width: 2.5rem; font-weight: 600; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1rem 1rem 4rem; } table { display: block; overflow-x: auto; } }
`.trim()
