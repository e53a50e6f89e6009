/**
 * The style of documents. It is the same text for all, so a content security policy can name it by its hash.
 */

export const STYLE = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { background: #eef0f3; color: #1f2328; font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
body { margin: 0; }
main { position: relative; max-width: 210mm; margin: 2rem auto; padding: 16mm; background: #fff; box-shadow: 0 1px 3px #0002, 0 8px 24px #0000000f; overflow-wrap: anywhere; }
.bar { position: absolute; inset: 0 0 auto; width: 100%; height: 6px; display: block; }
header { display: flex; justify-content: space-between; align-items: flex-start; gap: 2rem; margin-bottom: 2.25rem; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; font-weight: 650; letter-spacing: -.01em; }
h2 { margin: 0 0 .35rem; font-size: .8125rem; font-weight: 600; color: #57606a; }
.brand { font-size: 1.125rem; font-weight: 650; }
.logo { display: block; max-width: 60mm; max-height: 20mm; object-fit: contain; }
.kind { text-align: end; }
.stamp { display: inline-block; margin-top: .5rem; padding: .15rem .7rem; border: 1.5px solid; border-radius: 99px; font-weight: 600; font-size: .8125rem; }
.stamp.paid { color: #116329; }
.stamp.void { color: #a40e26; }
.stamp.draft { color: #7a4d00; }
.parties { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem; margin-bottom: 2rem; }
address { font-style: normal; }
address .name { font-weight: 600; }
[dir="auto"] { text-align: left; }
dl { margin: 0; }
.party dl { margin-top: .35rem; display: grid; grid-template-columns: auto 1fr; gap: 0 .6rem; font-size: .875rem; }
.party dt { color: #57606a; }
dd { margin: 0; }
.facts { display: flex; flex-wrap: wrap; gap: .75rem 2.5rem; padding: .9rem 0; margin-bottom: 1.75rem; border-block: 1px solid #d5dae0; }
.facts dt { font-size: .8125rem; color: #57606a; }
.facts dd { font-weight: 600; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th, td { padding: .5rem 0 .5rem 1rem; text-align: start; vertical-align: top; font-weight: 400; }
th:first-child, td:first-child { padding-inline-start: 0; }
thead th:first-child { min-width: 9rem; }
.number { text-align: end; white-space: nowrap; overflow-wrap: normal; }
.lines thead th, .taxes thead th { padding-bottom: .4rem; border-bottom: 1.5px solid #1f2328; font-size: .8125rem; font-weight: 600; color: #57606a; vertical-align: bottom; }
.lines > tbody > .line > * { border-top: 1px solid #e3e7eb; }
.lines > tbody:first-of-type > .line > * { border-top: 0; }
.lines > tbody:last-of-type > tr:last-child > * { border-bottom: 1.5px solid #1f2328; }
.lines .quantity { white-space: normal; }
.description { font-weight: 500; }
.detail { font-size: .8125rem; color: #57606a; font-weight: 400; }
.explanation > td { padding: 0 0 .6rem; }
summary { cursor: pointer; font-size: .8125rem; color: #0a5bbd; width: fit-content; }
details table { margin-top: .35rem; font-size: .8125rem; background: #f6f8fa; }
details th, details td { padding: .2rem .75rem; }
details tr > :first-child { padding-inline-start: .75rem; }
.wide { overflow-x: auto; }
.totals { width: min(100%, 100mm); margin: 1rem 0 0 auto; break-inside: avoid; }
.totals th, .totals td { padding-block: .25rem; }
.totals .info > * { color: #57606a; font-size: .8125rem; }
.totals .sum > * { font-weight: 600; border-top: 1px solid #d5dae0; padding-block: .4rem; }
.totals .due > * { font-weight: 700; font-size: 1.125rem; border-top: 1.5px solid #1f2328; padding-block: .5rem; }
section.block { margin-top: 1.75rem; break-inside: avoid; }
.block p { margin: 0; }
.pay { padding: .9rem 1rem; background: #f6f8fa; border-radius: 6px; }
.pay p:first-of-type { font-weight: 600; }
footer { margin-top: 2.5rem; padding-top: .75rem; border-top: 1px solid #d5dae0; font-size: .8125rem; color: #57606a; }
footer p { margin: 0; min-height: 1em; }
@media (max-width: 640px) {
  main { margin: 0; padding: 1.75rem 1rem 2rem; box-shadow: none; }
  header { flex-direction: column; gap: 1rem; margin-bottom: 1.5rem; }
  .kind { text-align: start; }
  .parties { grid-template-columns: 1fr; gap: 1.25rem; }
}
@page { margin: 16mm 15mm 18mm; @bottom-right { content: counter(page) " / " counter(pages); font: 9pt system-ui, sans-serif; color: #57606a; } }
@media print {
  html { background: none; font-size: 10pt; }
  main { max-width: none; margin: 0; padding: 6mm 0 0; box-shadow: none; }
  thead { display: table-header-group; }
  tr, .totals, .parties, header { break-inside: avoid; }
  .explanation:not(:has(details[open])) { display: none; }
  summary { list-style: none; color: inherit; }
  .wide { overflow: visible; }
}
`

/** The hash of `STYLE` for a content security policy. A test computes it. */
export const STYLE_HASH = "sha256-sZtn+0Y12LiTlU3a4x16JSXwdo9WLQg/0xMSmlpzJ3k="

/**
 * The content security policy of documents: their own style and pictures inside them, and nothing else. It stands in each of
 * them, so it also holds for a file on a disk.
 */
export const DOCUMENT_POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'`
