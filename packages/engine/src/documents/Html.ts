/**
 * Documents as HTML: one page that needs no other file and no script, for screens and for paper.
 */
import type {
  Amount,
  BillingDocument,
  DocumentLine,
  ExplainedStep,
  Fact,
  LineTable,
  Paragraph,
  Party,
  TaxSummary,
} from "./Document.ts"
import { html, Markup } from "./Markup.ts"
import { DOCUMENT_POLICY, STYLE } from "./Style.ts"

/** Its text has a hash, so nothing may come between. */
const STYLE_ELEMENT = new Markup(`<style>${STYLE}</style>`)

const each = <A>(values: ReadonlyArray<A>, write: (value: A) => Markup): ReadonlyArray<Markup> =>
  values.map(write)

/** Markup of a value, unless there is none. */
const some = <A>(value: A | null, write: (value: A) => Markup): Markup | null =>
  value === null ? null : write(value)

const facts = (values: ReadonlyArray<Fact>, name: string): Markup | null =>
  values.length === 0
    ? null
    : html`<dl class="${name}">
        ${each(
          values,
          ({ label, value }) =>
            html`<div>
              <dt>${label}</dt>
              <dd dir="auto">${value}</dd>
            </div>`,
        )}
      </dl>`

/** The facts of a party stand in two columns, which `div`s would hide from the grid. */
const party = ({ facts: known, label, lines, name }: Party): Markup =>
  html`<section class="party">
    <h2>${label}</h2>
    <address>
      <div class="name" dir="auto">${name}</div>
      ${each(lines, (line) => html`<div dir="auto">${line}</div>`)}
    </address>
    ${
      known.length === 0
        ? null
        : html`<dl>
            ${each(
              known,
              (fact) =>
                html`<dt>${fact.label}</dt>
                  <dd dir="auto">${fact.value}</dd>`,
            )}
          </dl>`
    }
  </section>`

const columnsOf = (table: LineTable) =>
  (["quantity", "unitPrice", "tax"] as const).filter((name) => table[name] !== null)

const steps = (values: ReadonlyArray<ExplainedStep>): Markup =>
  html`<table>
    <tbody>
      ${each(
        values,
        ({ amount, text }) =>
          html`<tr>
            <th scope="row">${text}</th>
            <td class="number">${amount}</td>
          </tr>`,
      )}
    </tbody>
  </table>`

/** A line, and below it how it was computed. */
const line = (row: DocumentLine, table: LineTable, explanation: string): Markup => {
  const columns = columnsOf(table)
  const cells = each(columns, (name) => html`<td class="number ${name}">${row[name]}</td>`)
  const width = String(columns.length + 2)
  return html`<tbody>
    <tr class="line">
      <th scope="row">
        <div class="description" dir="auto">${row.description}</div>
        ${each(row.details, (detail) => html`<div class="detail" dir="auto">${detail}</div>`)}
      </th>
      ${cells}
      <td class="number">${row.amount}</td>
    </tr>
    ${
      row.explanation.length === 0
        ? null
        : html`<tr class="explanation">
            <td colspan="${width}">
              <details>
                <summary>${explanation}</summary>
                ${steps(row.explanation)}
              </details>
            </td>
          </tr>`
    }
  </tbody>`
}

/** The lines as a table that scrolls in itself, each with its computation folded below it. */
export const lines = (table: LineTable, explanation: string): Markup =>
  html`<div class="wide" role="region" aria-label="${table.caption}" tabindex="0">
    <table class="lines">
      <caption>
        ${table.caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">${table.description}</th>
          ${each(columnsOf(table), (name) => html`<th scope="col" class="number">${table[name]}</th>`)}
          <th scope="col" class="number">${table.amount}</th>
        </tr>
      </thead>
      ${each(table.rows, (row) => line(row, table, explanation))}
    </table>
  </div>`

const totals = (rows: ReadonlyArray<Amount>, caption: string): Markup =>
  html`<table class="totals">
    <caption>
      ${caption}
    </caption>
    <tbody>
      ${each(
        rows,
        ({ kind, label, value }) =>
          html`<tr class="${kind}">
            <th scope="row" dir="auto">${label}</th>
            <td class="number">${value}</td>
          </tr>`,
      )}
    </tbody>
  </table>`

const taxes = ({ caption, columns, rows }: TaxSummary): Markup => {
  const [first = "", ...others] = columns
  return html`<section class="block">
    <h2>${caption}</h2>
    <div class="wide" role="region" aria-label="${caption}" tabindex="0">
      <table class="taxes">
        <caption>
          ${caption}
        </caption>
        <thead>
          <tr>
            <th scope="col">${first}</th>
            ${each(others, (column) => html`<th scope="col" class="number">${column}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${each(
            rows,
            ([name = "", ...amounts]) =>
              html`<tr>
                <th scope="row">${name}</th>
                ${each(amounts, (amount) => html`<td class="number">${amount}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`
}

const paragraphs = (texts: ReadonlyArray<string>): ReadonlyArray<Markup> =>
  each(texts, (text) => html`<p dir="auto">${text}</p>`)

const block = ({ heading, lines: texts }: Paragraph, name: string): Markup =>
  html`<section class="block ${name}">
    <h2>${heading}</h2>
    ${paragraphs(texts)}
  </section>`

/** The logo, or the name of the seller in its place. */
const brand = ({ logo, seller }: BillingDocument): Markup =>
  logo === null
    ? html`<div class="brand" dir="auto">${seller?.name ?? ""}</div>`
    : html`<img class="logo" src="${logo}" alt="${seller?.name ?? ""}" />`

/** The page of a document. */
const page = (document: BillingDocument, body: Markup): Markup =>
  html`<!doctype html>
    <html lang="${document.language}">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${DOCUMENT_POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>${document.title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        ${body}
      </body>
    </html> `

/** A document as HTML. */
export const documentHtml = (document: BillingDocument): string => page(document, documentMain(document)).text

/** The part of a document's page that has its text. */
export const documentMain = (document: BillingDocument): Markup => {
  const { customer, heading, seller, stamp } = document
  return html`<main lang="${document.language}">
    <svg class="bar" aria-hidden="true"><rect width="100%" height="100%" fill="${document.color}" /></svg>
    <header>
      ${brand(document)}
      <div class="kind">
        <h1>${heading}</h1>
        ${some(stamp, ({ kind, text }) => html`<div class="stamp ${kind}">${text}</div>`)}
      </div>
    </header>
    <div class="parties">${party(customer)}${some(seller, party)}</div>
    ${facts(document.facts, "facts")} ${lines(document.lines, document.explanation)}
    ${totals(document.totals, heading)} ${some(document.taxes, taxes)}
    ${document.notes.length === 0 ? null : html`<section class="block">${paragraphs(document.notes)}</section>`}
    ${some(document.creditNotes, (notes) => block(notes, ""))}
    ${some(document.payment, (payment) => block(payment, "pay"))}
    ${document.footer.length === 0 ? null : html`<footer>${paragraphs(document.footer)}</footer>`}
  </main>`
}
