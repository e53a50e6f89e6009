/**
 * Documents as PDF.
 */
import type {
  BillingDocument,
  DocumentAmount,
  LineTable,
  Paragraph,
  Party,
  TaxSummary,
} from "@billwright/engine/documents"
import { type Look, type Part, Sheet } from "./Sheet.ts"
import { type Cell, writeTable } from "./Table.ts"

const INK = "#1f2328"
const QUIET = "#57606a"
const RULE = "#d5dae0"
const BOX = "#f6f8fa"

const PLAIN: Look = { size: 9.5, weight: "regular", color: INK }
const STRONG: Look = { ...PLAIN, weight: "bold" }
const SMALL: Look = { size: 8, weight: "regular", color: QUIET }
const LABEL: Look = { ...SMALL, weight: "bold" }
const TITLE: Look = { size: 20, weight: "bold", color: INK, align: "right" }
const BRAND: Look = { size: 13, weight: "bold", color: INK }

const STAMPS = { draft: "#7a4d00", void: "#a40e26", paid: "#116329" } as const
const LOGO = { width: 170, height: 56 } as const

/** Writes paragraphs below each other. */
const paragraphs = (
  sheet: Sheet,
  parent: Part,
  texts: ReadonlyArray<{ readonly text: string; readonly look: Look; readonly tag?: string }>,
  { width, x }: { readonly x: number; readonly width: number },
): void => {
  for (const { look, tag = "P", text } of texts) {
    const lines = sheet.lines(text, look, width)
    const height = sheet.heightOf(look, lines.length)
    sheet.need(height)
    sheet.write(parent, tag, lines, look, { x, y: sheet.y, width })
    sheet.y += height
  }
}

const across = (sheet: Sheet) => ({ x: sheet.left, width: sheet.width })

/** The seller's logo or name, and what this is. */
const header = (sheet: Sheet, { color, heading, logo, seller, stamp }: BillingDocument): void => {
  sheet.bar(color)
  const part = sheet.part(sheet.root, "Sect")
  const top = sheet.y
  const half = sheet.width / 2
  if (logo !== null) sheet.y += sheet.picture(part, logo, seller?.name ?? "", LOGO.width, LOGO.height)
  else
    paragraphs(sheet, part, seller === null ? [] : [{ text: seller.name, look: BRAND }], {
      x: sheet.left,
      width: half,
    })
  const below = sheet.y
  sheet.y = top
  const right = { x: sheet.left + half, width: half }
  paragraphs(sheet, part, [{ text: heading, look: TITLE, tag: "H1" }], right)
  if (stamp !== null) {
    const look: Look = { ...STRONG, color: STAMPS[stamp.kind], align: "right" }
    paragraphs(sheet, part, [{ text: stamp.text, look }], right)
  }
  sheet.y = Math.max(below, sheet.y) + 26
}

const party = (sheet: Sheet, { facts, label, lines, name }: Party, x: number, width: number): void =>
  paragraphs(
    sheet,
    sheet.part(sheet.root, "Sect"),
    [
      { text: label, look: LABEL, tag: "H2" },
      { text: name, look: STRONG },
      ...lines.map((text) => ({ text, look: PLAIN })),
      ...facts.map((fact) => ({ text: `${fact.label} ${fact.value}`, look: SMALL })),
    ],
    { x, width },
  )

const parties = (sheet: Sheet, { customer, seller }: BillingDocument): void => {
  const top = sheet.y
  const width = sheet.width / 2 - 12
  party(sheet, customer, sheet.left, width)
  const below = sheet.y
  sheet.y = top
  if (seller !== null) party(sheet, seller, sheet.left + sheet.width / 2 + 12, width)
  sheet.y = Math.max(below, sheet.y) + 20
}

/** The number, the dates and the like: beside each other as far as they fit. */
const facts = (sheet: Sheet, document: BillingDocument): void => {
  if (document.facts.length === 0) return
  sheet.rule(sheet.y, RULE, 0.8)
  sheet.y += 9
  const part = sheet.part(sheet.root, "Sect")
  const height = sheet.heightOf(LABEL, 1) + sheet.heightOf(STRONG, 1)
  let x = sheet.left
  for (const { label, value } of document.facts) {
    const width = Math.min(
      Math.max(sheet.widthOf(label, SMALL), sheet.widthOf(value, STRONG)) + 1,
      sheet.width,
    )
    if (x > sheet.left && x + width > sheet.left + sheet.width) {
      x = sheet.left
      sheet.y += height + 6
    }
    const fact = sheet.part(part, "P")
    sheet.write(fact, "Span", [label], SMALL, { x, y: sheet.y, width })
    sheet.write(fact, "Span", [value], STRONG, { x, y: sheet.y + sheet.heightOf(LABEL, 1), width })
    x += width + 26
  }
  sheet.y += height + 9
  sheet.rule(sheet.y, RULE, 0.8)
  sheet.y += 20
}

const cell = (text: string | null, look: Look = PLAIN): Cell => ({
  paragraphs: text === null ? [] : [{ text, look }],
})

const lines = (sheet: Sheet, table: LineTable): void => {
  const columns = (["quantity", "unitPrice", "tax"] as const).filter((name) => table[name] !== null)
  writeTable(
    sheet,
    {
      headings: [table.description, ...columns.map((name) => table[name] ?? ""), table.amount],
      rows: table.rows.map((row) => [
        {
          paragraphs: [
            { text: row.description, look: PLAIN },
            ...row.details.map((text) => ({ text, look: SMALL })),
          ],
        },
        ...columns.map((name) => cell(row[name])),
        cell(row.amount),
      ]),
      width: sheet.width,
    },
    sheet.root,
  )
  sheet.rule(sheet.y, INK, 1)
  sheet.y += 10
}

const AMOUNTS: Readonly<Record<DocumentAmount["kind"], Look>> = {
  part: PLAIN,
  info: SMALL,
  sum: STRONG,
  due: { ...STRONG, size: 12 },
}

/** What a row is set off from those above it by. */
const RULES: Readonly<Record<DocumentAmount["kind"], string | null>> = {
  part: null,
  info: null,
  sum: RULE,
  due: INK,
}

const totals = (sheet: Sheet, rows: ReadonlyArray<DocumentAmount>): void => {
  const width = Math.min(sheet.width, 290)
  // What belongs together stays together.
  sheet.need(rows.reduce((sum, { kind }) => sum + sheet.heightOf(AMOUNTS[kind], 1) + 10, 0))
  writeTable(
    sheet,
    {
      headings: [],
      rows: rows.map(({ kind, label, value }) => [cell(label, AMOUNTS[kind]), cell(value, AMOUNTS[kind])]),
      ruleAbove: (row) => RULES[rows[row]?.kind ?? "part"],
      width,
    },
    sheet.root,
  )
}

const taxes = (sheet: Sheet, { caption, columns, rows }: TaxSummary): void => {
  sheet.y += 18
  sheet.need(60)
  paragraphs(sheet, sheet.root, [{ text: caption, look: LABEL, tag: "H2" }], across(sheet))
  sheet.y += 4
  const table = {
    headings: columns,
    rows: rows.map((row) => row.map((text) => cell(text))),
    width: sheet.width,
  }
  writeTable(sheet, table, sheet.root)
}

const blockTexts = ({ heading, lines: texts }: Paragraph) => [
  { text: heading, look: LABEL, tag: "H2" },
  ...texts.map((text, index) => ({ text, look: index === 0 ? STRONG : PLAIN })),
]

const block = (sheet: Sheet, paragraph: Paragraph): void => {
  sheet.y += 18
  sheet.need(sheet.heightOf(LABEL, 1) + sheet.heightOf(PLAIN, Math.min(paragraph.lines.length, 12)))
  paragraphs(sheet, sheet.part(sheet.root, "Sect"), blockTexts(paragraph), across(sheet))
}

/** Room around the text of a box, in points. */
const BOX_PADDING = 10

/** How it is to be paid, set off in a box if that is not longer than a page. */
const payment = (sheet: Sheet, paragraph: Paragraph): void => {
  const inner = { x: sheet.left + BOX_PADDING, width: sheet.width - 2 * BOX_PADDING }
  const texts = blockTexts(paragraph)
  const height = texts.reduce(
    (sum, { look, text }) => sum + sheet.heightOf(look, sheet.lines(text, look, inner.width).length),
    2 * BOX_PADDING,
  )
  sheet.y += 18
  sheet.need(height)
  if (!sheet.fits(height)) return block(sheet, paragraph)
  sheet.fill(sheet.left, sheet.y, sheet.width, height, BOX)
  sheet.y += BOX_PADDING
  paragraphs(sheet, sheet.part(sheet.root, "Sect"), texts, inner)
  sheet.y += BOX_PADDING
}

const footer = (sheet: Sheet, texts: ReadonlyArray<string>): void => {
  sheet.y += 24
  sheet.need(sheet.heightOf(SMALL, Math.min(texts.length, 12)) + 8)
  sheet.rule(sheet.y, RULE, 0.8)
  sheet.y += 8
  const part = sheet.part(sheet.root, "Sect")
  paragraphs(
    sheet,
    part,
    texts.map((text) => ({ text, look: SMALL })),
    across(sheet),
  )
}

/**
 * A document as PDF: tagged for screen readers, with its fonts in it. The same document always has the same bytes, on the
 * same release of this package.
 *
 * With `facturX`, the XML of the same document as an e-invoice (CII, of the profile EN 16931), the PDF is one of Factur-X
 * and ZUGFeRD: PDF/A-3, with the XML as `factur-x.xml`. A logo in CMYK would break that: use RGB.
 */
export const documentPdf = async (
  document: BillingDocument,
  facturX?: string,
): Promise<Uint8Array<ArrayBuffer>> => {
  const sheet = new Sheet({
    title: document.title,
    author: document.seller?.name ?? null,
    language: document.language,
    paper: document.paper,
    createdAt: document.issuedAt ?? 0,
    facturX,
  })
  header(sheet, document)
  parties(sheet, document)
  facts(sheet, document)
  lines(sheet, document.lines)
  totals(sheet, document.totals)
  if (document.taxes !== null) taxes(sheet, document.taxes)
  if (document.notes.length > 0) {
    sheet.y += 18
    paragraphs(
      sheet,
      sheet.root,
      document.notes.map((text) => ({ text, look: PLAIN })),
      across(sheet),
    )
  }
  if (document.creditNotes !== null) block(sheet, document.creditNotes)
  if (document.payment !== null) payment(sheet, document.payment)
  if (document.footer.length > 0) footer(sheet, document.footer)
  const foot = (page: number, pages: number) => {
    const place = document.page.replace("{page}", String(page)).replace("{pages}", String(pages))
    return `${document.title} · ${place}`
  }
  return sheet.end(foot, { ...SMALL, align: "right" })
}
