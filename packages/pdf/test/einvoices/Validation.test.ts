/** What an official validator says of our e-invoices: by `npm run test:einvoice`. Without Java and Maven it says so, and passes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, onTestFinished } from "vitest"
import { documentPdf } from "../../src/index.ts"
import { corpus } from "./Corpus.ts"
import { judge, validatorJar, type Verdict } from "./Validator.ts"

const jar = validatorJar()
if (jar === undefined) process.stderr.write("No Java or no Maven: e-invoices are not validated.\n")

/** PDF of these alone: to check one takes seconds, and they have all that a PDF can have. */
const AS_PDF = ["several-rates", "right-to-left", "special-characters", "credit-note"]

type Files = Readonly<Record<string, string | Uint8Array>>

const judged = (files: Files): ReadonlyMap<string, Verdict> => {
  const folder = mkdtempSync(join(tmpdir(), "einvoices-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return judge(jar!, folder)
}

const checkAll = (files: Files): void => {
  const verdicts = judged(files)
  assert.sameMembers([...verdicts.keys()], Object.keys(files))
  const refused = [...verdicts].filter(([, { isValid }]) => !isValid)
  assert.deepEqual(refused, [])
}

const planted = (text: string, from: RegExp, to: string): string => {
  assert.match(text, from)
  return text.replace(from, to)
}

const specimens = corpus()
const [plain] = specimens

describe.runIf(jar !== undefined)("an official validator", () => {
  it("finds all of the corpus valid, in UBL", () => {
    checkAll(Object.fromEntries(specimens.map(({ name, ubl }) => [`${name}.xml`, ubl])))
  })

  it("finds all of the corpus valid, in CII", () => {
    checkAll(Object.fromEntries(specimens.map(({ cii, name }) => [`${name}.xml`, cii])))
  })

  it("finds Factur-X valid, as an e-invoice and as PDF/A-3", async () => {
    const chosen = specimens.filter(({ name }) => AS_PDF.includes(name))
    assert.lengthOf(chosen, AS_PDF.length)
    const files: Record<string, Uint8Array> = {}
    for (const { cii, name, page } of chosen) files[`${name}.pdf`] = await documentPdf(page, cii)
    checkAll(files)
  })

  it("finds faults that are planted, and names the rules", () => {
    const { cii, ubl } = plain!
    const faults: Readonly<Record<string, readonly [text: string, rule: string]>> = {
      "total-ubl.xml": [planted(ubl, /(<cbc:TaxInclusiveAmount[^>]*>)119\.00/, "$1119.01"), "BR-CO-15"],
      "sum-ubl.xml": [planted(ubl, /(<cbc:LineExtensionAmount[^>]*>)100\.00/, "$199.00"), "BR-CO-10"],
      "total-cii.xml": [planted(cii, /(<ram:GrandTotalAmount>)119\.00/, "$1119.01"), "BR-CO-15"],
      "due-cii.xml": [planted(cii, /(<ram:DuePayableAmount>)119\.00/, "$1118.00"), "BR-CO-16"],
    }
    const verdicts = judged(Object.fromEntries(Object.entries(faults).map(([name, [text]]) => [name, text])))
    for (const [name, [, rule]] of Object.entries(faults)) {
      const verdict = verdicts.get(name)
      assert.strictEqual(verdict?.isValid, false, name)
      assert.include([...(verdict?.rules ?? [])], rule, name)
    }
  })
})

describe("the corpus", () => {
  it("has each name once", () => {
    assert.lengthOf(new Set(specimens.map(({ name }) => name)), specimens.length)
  })
})
