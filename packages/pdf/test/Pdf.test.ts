import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { documentPdf } from "../src/index.ts"
import { read, rolesOf, textOf } from "./Reader.ts"
import { document, line } from "./Samples.ts"

const LOGO =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

describe("a document as PDF", () => {
  it("has all that the document says, in scripts of several fonts", async () => {
    const { info, pages } = await read(await documentPdf(document()))
    assert.lengthOf(pages, 1)
    const text = textOf(pages[0]!)
    for (const part of [
      "Rechnung",
      "Nordlicht Software GmbH",
      "Hafenstraße 12",
      "USt-IdNr. DE123456789",
      "API calls",
      "01.–30.11.2026",
      "12,85 €",
      "Bitte zahlen Sie 12,85 € bis zum 6. Dezember 2026.",
      "Geschäftsführerin: Jane Doe",
      "Seite 1 von 1",
    ])
      assert.include(text, part)
    // A word in two fonts is two texts.
    assert.include(text.replaceAll(" ", ""), "AdaŁovelaceΑθήναКиїв")
    assert.deepInclude(info, {
      Title: "Rechnung 2026-0001",
      Author: "Nordlicht Software GmbH",
      Language: "de-DE",
    })
  })

  it("always has the same bytes, and other ones for another document", async () => {
    const first = hashOf(await documentPdf(document()))
    assert.strictEqual(hashOf(await documentPdf(document())), first)
    assert.notStrictEqual(hashOf(await documentPdf(document([line("API call")]))), first)
  })

  it("is tagged: headings, tables with the cells of headings, and the picture with its text", async () => {
    const { isTagged, pages } = await read(await documentPdf(document(undefined, { logo: LOGO })))
    assert.isTrue(isTagged)
    const roles = rolesOf(pages[0]!.tree)
    assert.lengthOf(
      roles.filter((role) => role === "H1"),
      1,
    )
    assert.lengthOf(
      roles.filter((role) => role === "Table"),
      3,
    )
    assert.includeMembers([...roles], ["Document", "Sect", "H2", "P", "TR", "TH", "TD", "Figure"])
    assert.include(JSON.stringify(pages[0]!.tree), `"alt":"Nordlicht Software GmbH"`)
  })

  it("repeats the headings of lines on every page, once for screen readers, and cuts no line in two", async () => {
    const rows = Array.from({ length: 120 }, (_, index) =>
      line(`Position ${index}`, { details: [`${index} of 120`] }),
    )
    const { pages } = await read(await documentPdf(document(rows)))
    assert.isAbove(pages.length, 3)
    for (const [index, page] of pages.entries()) {
      const text = textOf(page)
      assert.include(text, `Seite ${index + 1} von ${pages.length}`)
      const positions = [...text.matchAll(/Position (\d+)/g)].map(([, at]) => at)
      if (positions.length > 0) assert.include(text, "Bezeichnung")
      // The detail of a line is on the page of the line.
      for (const position of positions) assert.include(text, `${position} of 120`)
    }
    const all = pages.map(textOf).join(" ")
    for (const [index] of rows.entries()) assert.match(all, new RegExp(`Position ${index}\\b`))
    const headings = pages.flatMap(({ tree }) => rolesOf(tree)).filter((role) => role === "TH")
    assert.strictEqual(headings.length, 4 + rows.length + 3 + 5 + 1)
  })

  it("keeps everything on the paper, also words that are too long", async () => {
    const long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    const rows = [
      line(long.repeat(6), { quantity: "9".repeat(200), amount: `${"123.456.789.".repeat(9)}00 €` }),
    ]
    for (const paper of ["A4", "LETTER"] as const) {
      const more = { paper, heading: long, footer: [long.repeat(3)] }
      const customer = { ...document().customer, name: long.repeat(2) }
      const { pages } = await read(await documentPdf(document(rows, { ...more, customer })))
      for (const { height, texts, width } of pages) {
        assert.deepStrictEqual(
          [Math.round(width), Math.round(height)],
          paper === "A4" ? [595, 842] : [612, 792],
        )
        for (const { text, width: wide, x, y } of texts) {
          if (text.trim() === "") continue
          assert.isAtLeast(x, 47, text)
          assert.isAtMost(x + wide, width - 47, text)
          assert.isAtLeast(y, 20, text)
        }
      }
    }
  })

  it("breaks no amount that has room, not even one of billions", async () => {
    const amount = "1.469.135.893,37 €"
    const totals = [{ label: "Zu zahlen", value: amount, kind: "due" as const }]
    const columns = ["Steuer", "Satz", "Netto", "Steuer", "Brutto"]
    const taxes = { caption: "Steuern", columns, rows: [["MwSt.", "19 %", amount, amount, amount]] }
    const rows = [line("Beratung ".repeat(20), { amount, unitPrice: amount, quantity: "1" })]
    const { pages } = await read(await documentPdf(document(rows, { totals, taxes })))
    // Of the line, of the totals, and of the taxes.
    assert.lengthOf([...textOf(pages[0]!).matchAll(/1\.469\.135\.893,37 €/g)], 1 + 1 + 3)
    assert.include(textOf(pages[0]!), "19 %")
  })

  it("sets names that are read from right to left in that order", async () => {
    const customer = { ...document().customer, name: "רחוב 5 (abc)", lines: ["شركة النور"] }
    const { pages } = await read(await documentPdf(document(undefined, { customer })))
    const { texts, tree } = pages[0]!
    // Seen from the left: the letters in brackets, the digit, the word.
    const latin = texts.find(({ text }) => text.includes("abc"))
    assert.strictEqual(latin?.text.trim(), "(abc) 5")
    const word = texts.find(({ text }) => /[\u0590-\u05ff]/.test(text))
    assert.isBelow(latin?.x ?? Number.NaN, word?.x ?? 0)
    // Screen readers and whoever copies it get what was written.
    assert.include(JSON.stringify(tree), "شركة النور")
  })

  it("does without a seller, taxes and a payment, as a draft", async () => {
    const { info, pages } = await read(
      await documentPdf(
        document(undefined, {
          seller: null,
          taxes: null,
          payment: null,
          footer: [],
          issuedAt: null,
          stamp: { kind: "draft", text: "Entwurf" },
        }),
      ),
    )
    assert.include(textOf(pages[0]!), "Entwurf")
    assert.notProperty(info, "Author")
  })
})
