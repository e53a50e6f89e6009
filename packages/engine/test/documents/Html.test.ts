import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import {
  creditNoteDocument,
  DOCUMENT_POLICY,
  documentHtml,
  invoiceDocument,
  STYLE_HASH,
} from "../../src/documents/index.ts"
import { line, originOf } from "../invoices/Documents.ts"
import { creditNote, customer, input, invoice, LOGO, settings } from "./Samples.ts"

const HOSTILE = `</title><script>alert(1)</script><img src=x onerror=alert(1)> " ' & \u0000 {name}`

const pageOf = (...of: Parameters<typeof input>) => documentHtml(invoiceDocument(input(...of)))

const styleOf = (page: string): string => /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? ""

describe("the page of a document", () => {
  it("has a policy that allows its own style by its hash, and nothing else", () => {
    const page = pageOf(invoice())
    assert.strictEqual(`sha256-${createHash("sha256").update(styleOf(page)).digest("base64")}`, STYLE_HASH)
    assert.include(page, `content="${DOCUMENT_POLICY.replaceAll("'", "&#39;")}"`)
    assert.match(DOCUMENT_POLICY, /^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:; /)
    // Neither what the policy refuses, nor what loads from elsewhere.
    assert.notMatch(page, /<script|<link|<iframe|\sstyle=|\son\w+=|\b(?:src|href|action)="(?!data:)/)
  })

  it("escapes whatever people have written", () => {
    const address = { line1: HOSTILE, line2: HOSTILE, city: HOSTILE, region: HOSTILE, postcode: HOSTILE }
    const seller = {
      name: HOSTILE,
      address,
      taxId: HOSTILE,
      registration: HOSTILE,
      contact: HOSTILE,
      paymentInstructions: HOSTILE,
      footer: HOSTILE,
    }
    const of = invoice({
      lines: [line("a", 100n, { description: HOSTILE, origin: { ...originOf("pro"), group: HOSTILE } })],
      rate: { category: "E", rate: "0", country: "DE", reason: HOSTILE.replace("\u0000", "") },
    })
    const page = pageOf(
      {
        ...of,
        discounts: [
          { type: "coupon", id: "x", name: HOSTILE, percent: "5", base: 1n, amount: 1n, parts: [] },
        ],
      },
      {
        customer: { ...customer, name: HOSTILE, address, taxId: HOSTILE },
        settings: { ...settings, seller },
        creditNotes: [{ number: HOSTILE, issuedAt: 0, total: 1n, waived: 1n }],
      },
    )
    assert.notMatch(page, /<script|<img/)
    assert.notInclude(page, "\u0000")
    assert.isAbove(page.split("&lt;script&gt;").length, 20)
    // Quotes can't end an attribute either.
    assert.notInclude(page.replace(styleOf(page), ""), `" '`)
  })

  it("lets names of any script have their own direction", () => {
    const page = pageOf(invoice(), { customer: { ...customer, name: "شركة النور" } })
    assert.include(page, `<div class="name" dir="auto">شركة النور</div>`)
    assert.include(page, `<html lang="en">`)
  })

  it("has the logo with the name as its text", () => {
    const page = pageOf(invoice(), { settings: { ...settings, seller: { ...settings.seller!, logo: LOGO } } })
    assert.include(page, `<img class="logo" src="${LOGO}" alt="Nordlicht Software GmbH"`)
  })

  it("folds the computation of usage away, and has headings for every cell", () => {
    const page = pageOf(invoice())
    assert.lengthOf(page.match(/<details>/g) ?? [], 1)
    assert.notMatch(page, /<details[^>]*open/)
    assert.notMatch(page, /<th(?![^>]*scope=)[ >]/)
  })

  it("shows credit notes likewise, and does without a seller", () => {
    const note = creditNote(invoice())
    const page = documentHtml(creditNoteDocument({ ...note, settings: { ...settings, seller: null } }))
    assert.include(page, "<title>Credit note CN-2026-0001</title>")
    assert.notInclude(page, "Nordlicht")
  })
})
