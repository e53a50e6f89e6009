import { assert, describe, it } from "vitest"
import { documentPdf } from "../src/index.ts"
import { attachmentsOf } from "./Reader.ts"
import { document } from "./Samples.ts"

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8")

const seller = { label: "Seller", name: "R&D <GmbH>", lines: [], facts: [] }

describe("a document of Factur-X", () => {
  it("has the XML as it was given, and says so in its metadata", async () => {
    const xml = `<rsm:CrossIndustryInvoice>شركة &amp; Söhne</rsm:CrossIndustryInvoice>`
    const bytes = await documentPdf(document(undefined, { seller }), xml)
    const attached = await attachmentsOf(bytes)
    assert.deepEqual(Object.keys(attached), ["factur-x.xml"])
    assert.strictEqual(textOf(attached["factur-x.xml"]!), xml)
    const text = textOf(bytes)
    for (const part of [
      "<pdfaid:part>3</pdfaid:part>",
      "<pdfaid:conformance>A</pdfaid:conformance>",
      "<fx:DocumentFileName>factur-x.xml</fx:DocumentFileName>",
      "<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>",
      "/AFRelationship /Alternative",
      "/OutputIntents",
      "<rdf:li>R&amp;D &lt;GmbH&gt;</rdf:li>",
    ])
      assert.include(text, part)
  })

  it("always has the same bytes, and no other document has an attachment", async () => {
    const first = await documentPdf(document(), "<a/>")
    assert.deepEqual(await documentPdf(document(), "<a/>"), first)
    const plain = await documentPdf(document(undefined, { seller }))
    assert.deepEqual(await attachmentsOf(plain), {})
    assert.notInclude(textOf(plain), "pdfaid")
    assert.include(textOf(plain), "R&amp;D &lt;GmbH&gt;")
  })
})
