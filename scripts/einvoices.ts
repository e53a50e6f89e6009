/**
 * Checks electronic invoices by the official rules of EN 16931. It needs Java and Maven; without them it says so, and
 * checks nothing. `npm run test:einvoices`.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeCorpus } from "./einvoice/corpus.ts"

const here = join(import.meta.dirname, "einvoice")
const MAX_BYTES = 64 * 1024 * 1024

const run = (command: string, args: ReadonlyArray<string>): string => {
  const { error, status, stderr, stdout } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: MAX_BYTES,
  })
  if (error !== undefined || status !== 0) {
    throw new Error(`${command} failed: ${error?.message ?? `${stdout}\n${stderr}`}`)
  }
  return stdout
}

const isThere = (command: string): boolean => spawnSync(command, ["-version"]).error === undefined

/** The lines of the judge about files: whether each is valid, and then what is wrong. */
const judge = (folder: string, files: ReadonlyArray<string>): string => {
  const list = join(folder, "classpath")
  run("mvn", [
    "-q",
    "-B",
    "-f",
    join(here, "pom.xml"),
    "dependency:build-classpath",
    `-Dmdep.outputFile=${list}`,
  ])
  return run("java", ["-cp", readFileSync(list, "utf8").trim(), join(here, "Validate.java"), ...files])
}

/** Faults that the judge has to find, so that a judge that finds nothing is no proof. */
const FAULTS: ReadonlyArray<readonly [name: string, of: string, from: RegExp, to: string]> = [
  ["a wrong total", "invoice-plain-exclusive.ubl.xml", /(<cbc:TaxInclusiveAmount[^>]*>)1/, "$12"],
  [
    "a wrong tax",
    "invoice-two-rates-exclusive.cii.xml",
    /<ram:CalculatedAmount>2/,
    "<ram:CalculatedAmount>9",
  ],
  ["no country", "invoice-plain-inclusive.ubl.xml", /<cac:Country>.*?<\/cac:Country>/, ""],
  ["an unknown element", "credit-note-part-exclusive.cii.xml", /<ram:Name>/, "<ram:Nane/><ram:Name>"],
]

const plant = (folder: string): ReadonlyArray<string> =>
  FAULTS.map(([name, of, from, to], index) => {
    const text = readFileSync(join(folder, of), "utf8")
    const planted = text.replace(from, to)
    if (planted === text) throw new Error(`${name} could not be planted in ${of}`)
    const path = join(folder, `planted-${index}-${of}`)
    writeFileSync(path, planted)
    return path
  })

const folder = mkdtempSync(join(tmpdir(), "billwright-einvoices-"))
try {
  const files = await writeCorpus(folder)
  if (["java", "mvn"].every(isThere)) {
    const planted = plant(folder)
    const said = judge(folder, [...files, ...planted])
    const lines = said.split("\n")
    const notFound = planted.filter((path) => !lines.includes(`invalid ${path}`))
    const wrong = files.filter((path) => !lines.includes(`valid ${path}`))
    if (wrong.length > 0 || notFound.length > 0) {
      console.error(said.replaceAll(folder, ""))
      throw new Error(
        `${wrong.length} of ${files.length} documents are not valid, ${notFound.length} of ${planted.length} planted faults were not found`,
      )
    }
    console.log(
      `${files.length} documents are valid by EN 16931, ${planted.length} planted faults were found`,
    )
  } else {
    console.log(`${files.length} documents were written and not checked: there is no Java with Maven here`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
