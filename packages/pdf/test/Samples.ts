/**
 * Documents to make PDF of.
 */
import type { BillingDocument, DocumentLine } from "@billwright/engine/documents"

export const line = (description: string, more: Partial<DocumentLine> = {}): DocumentLine => ({
  description,
  details: [],
  quantity: null,
  unitPrice: null,
  tax: "19 %",
  amount: "10,80 €",
  explanation: [],
  ...more,
})

const table = (rows: ReadonlyArray<DocumentLine>): BillingDocument["lines"] => ({
  caption: "Positionen",
  description: "Bezeichnung",
  quantity: "Menge",
  unitPrice: null,
  tax: "MwSt.",
  amount: "Betrag",
  rows,
})

export const document = (
  rows: ReadonlyArray<DocumentLine> = [line("API calls", { quantity: "1.500", details: ["01.–30.11.2026"] })],
  more: Partial<BillingDocument> = {},
): BillingDocument => ({
  language: "de-DE",
  title: "Rechnung 2026-0001",
  heading: "Rechnung",
  stamp: null,
  color: "#0b7285",
  paper: "A4",
  logo: null,
  seller: {
    label: "Rechnungssteller",
    name: "Nordlicht Software GmbH",
    lines: ["Hafenstraße 12", "20359 Hamburg"],
    facts: [{ label: "USt-IdNr.", value: "DE123456789" }],
  },
  customer: { label: "Rechnungsempfänger", name: "Ada Łovelace", lines: ["Αθήνα", "Київ"], facts: [] },
  facts: [{ label: "Nummer", value: "2026-0001" }],
  lines: table(rows),
  totals: [
    { label: "MwSt. 19 % auf 10,80 €", value: "2,05 €", kind: "part" },
    { label: "Gesamtbetrag", value: "12,85 €", kind: "sum" },
    { label: "Zu zahlen", value: "12,85 €", kind: "due" },
  ],
  taxes: {
    caption: "Steuern",
    columns: ["Steuer", "Satz", "Netto", "Steuer", "Brutto"],
    rows: [["MwSt.", "19 %", "10,80 €", "2,05 €", "12,85 €"]],
  },
  notes: [],
  creditNotes: null,
  payment: { heading: "Zahlung", lines: ["Bitte zahlen Sie 12,85 € bis zum 6. Dezember 2026."] },
  customerTimezone: "Europe/Berlin",
  footer: ["Geschäftsführerin: Jane Doe"],
  explanation: "So wurde gerechnet",
  page: "Seite {page} von {pages}",
  issuedAt: Date.UTC(2026, 10, 22),
  ...more,
})
