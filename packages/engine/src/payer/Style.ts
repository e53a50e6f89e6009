/**
 * The style of pages for payers: the colours of the host, and what they colour.
 */
import { type Palette, palettesOf, readableOn, type Theme } from "./Theme.ts"

/** The colour of the text is all that lines are made of, so that the background may have any colour. */
const BASE = `
*, ::before, ::after { box-sizing: border-box; }
html { background: var(--background); color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif; }
body { margin: 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.test { margin: 0; padding: .35rem 1rem; text-align: center; font-size: .875rem; font-weight: 600; border-block-end: 1px solid var(--line); background: repeating-linear-gradient(-45deg, transparent 0 10px, var(--faint) 10px 20px); }
.top, .account, .card, .notice { width: min(100% - 2rem, 210mm); margin-inline: auto; }
.top { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: .5rem 2rem; margin-block: 1.5rem; font-weight: 650; }
.top img { display: block; max-width: 12rem; max-height: 3.5rem; object-fit: contain; }
.button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: .5rem 1.1rem; border: 1.5px solid var(--text); border-radius: .5rem; background: transparent; color: var(--text); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; overflow-wrap: anywhere; }
.button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.button:hover { text-decoration: underline; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; }
.actions form { margin: 0; }
.card { margin-block: 1.5rem; padding: 1.25rem 1.5rem; border: 1px solid var(--line); border-radius: .75rem; display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 1rem 2rem; }
.state { margin: 0; font-size: 1.25rem; font-weight: 650; }
.card .more { margin: .15rem 0 0; }
.words { flex: 1 1 18rem; }
.notice { margin-block: 15vh 3rem; max-width: 34rem; }
.notice h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
.account { margin-block-end: 4rem; }
.account h1 { margin: 0 0 1.25rem; font-size: 1.75rem; line-height: 1.2; }
.account h2 { margin: 0 0 .5rem; font-size: 1.125rem; }
.account h3 { margin: 0; font-size: 1.25rem; }
.account h4 { margin: 0 0 .35rem; font-size: 1rem; }
.account section { margin-block-end: 1.5rem; padding: 1.25rem 1.5rem; border: 1px solid var(--line); border-radius: .75rem; }
.account section section { padding: 1rem 0 0; margin: 1.25rem 0 0; border: 0; border-block-start: 1px solid var(--line); border-radius: 0; }
.account p { margin: 0 0 .35rem; }
.account .actions { margin-block-start: .9rem; }
.account dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem 1.5rem; margin: .75rem 0 0; }
.account dd { margin: 0; text-align: end; font-variant-numeric: tabular-nums; }
.account dt.sum, .account dd.sum { font-weight: 700; }
.account ul { margin: 0; padding: 0; list-style: none; }
.account li { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: .5rem 1.5rem; padding-block: .6rem; }
.account li + li { border-block-start: 1px solid var(--line); }
.badge { display: inline-block; padding: .05rem .6rem; border: 1px solid; border-radius: 99px; font-size: .875rem; font-weight: 600; white-space: nowrap; }
.account .worth { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; }
.button.small { min-height: 2.25rem; padding: .25rem .85rem; }
.account .wide { overflow-x: auto; margin: -4px; padding: 4px; }
.account table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9375rem; }
.account caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.account th, .account td { padding: .5rem 0 .5rem 1rem; text-align: start; vertical-align: top; font-weight: 400; }
.account th:first-child, .account td:first-child { padding-inline-start: 0; }
.account thead th { font-weight: 600; font-size: .875rem; border-block-end: 1.5px solid var(--text); vertical-align: bottom; }
.account thead th:first-child { min-width: 7rem; }
.account .number { text-align: end; white-space: nowrap; }
.account .description { font-weight: 600; }
.account .detail { font-size: .875rem; }
.account tbody tr > * { border-block-start: 1px solid var(--line); }
.account thead + tbody tr > *, .account tbody tr.explanation > *, .account details tr > * { border-block-start: 0; }
.account .explanation > td { padding-block-start: 0; }
.account summary { width: fit-content; min-height: 1.5rem; color: var(--accent); cursor: pointer; font-size: .875rem; }
.account details table { font-size: .875rem; margin-block-start: .35rem; border-inline-start: 3px solid var(--line); }
.account details th, .account details td { padding: .15rem .75rem; }
.account details tr > :first-child { padding-inline-start: .75rem; }
.invoice > header { display: block; margin: 0; }
.invoice main { color: #1f2328; color-scheme: light; margin-block-start: 0; }
.invoice main :focus-visible { outline-color: #0a5bbd; }
@media (max-width: 640px) {
  .card, .account section { padding: 1rem; }
  .account section section { padding: 1rem 0 0; }
  .actions, .actions form, .actions .button { width: 100%; }
  .account li .actions { margin-block-start: 0; }
}
@media print { .card, .test, .top { display: none; } html { background: none; } }
`

/** A colour that lies between two others: `share` of the way from the first, in percent. */
const mixed = (from: string, to: string, share: number): string =>
  `color-mix(in srgb, ${to} ${share}%, ${from})`

const rootOf = ({ accent, background, text }: Palette, scheme: "light" | "dark"): string =>
  [
    `:root { color-scheme: ${scheme}`,
    `--accent: ${accent}`,
    `--on-accent: ${readableOn(accent)}`,
    `--background: ${background}`,
    `--text: ${text}`,
    `--line: ${mixed(background, text, 22)}`,
    `--faint: ${mixed(background, text, 6)}; }`,
  ].join("; ")

/** The style of all pages of a theme that was checked. A content security policy can name it by its hash. */
export const styleOf = (theme: Theme): string => {
  const { dark, light } = palettesOf(theme)
  const isDark = readableOn(light.background) === "#ffffff"
  const first = rootOf(light, isDark ? "dark" : "light")
  const others = dark === null ? "" : `\n@media (prefers-color-scheme: dark) { ${rootOf(dark, "dark")} }`
  return `\n${first}${others}${BASE}`
}
