/**
 * The table of invariants in the README: every invariant has a row, and what a row names exists.
 */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { billingCheckers } from "../src/billing/BillingCheckers.ts"
import { checkers } from "../src/Checkers.ts"
import { creditCheckers } from "../src/credits/CreditCheckers.ts"
import { paymentCheckers } from "../src/payments/PaymentCheckers.ts"
import { prepaidCheckers } from "../src/prepaid/PrepaidCheckers.ts"
import { wholeCheckers } from "../src/whole/WholeCheckers.ts"
import { rules } from "./mutations/RuleMutations.ts"
import { PLANTED } from "./mutations/WholeMutations.ts"

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

interface Row {
  readonly invariant: string
  readonly checkers: string
  readonly judged: ReadonlyArray<string>
  readonly bugs: ReadonlyArray<string>
}

const namesIn = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].map(([, name]) => name!)

const rows: ReadonlyArray<Row> = read("README.md")
  .split("\n")
  .filter((line) => /^\| [IJ]\d+ /.test(line))
  .map((line) => {
    const [, invariant = "", , checked = "", judged = "", bugs = ""] = line
      .split("|")
      .map((cell) => cell.trim())
    return {
      invariant,
      checkers: checked,
      judged: namesIn(judged, /`([^`]+)`/g),
      bugs: namesIn(bugs, /_([^_]+)_/g),
    }
  })

/** The checkers of each simulation, by name. */
const SIMULATIONS: Readonly<Record<string, ReadonlyArray<string>>> = {
  usage: Object.keys(checkers),
  billing: Object.keys(billingCheckers),
  payments: Object.keys(paymentCheckers),
  credits: Object.keys(creditCheckers),
  prepaid: Object.keys(prepaidCheckers),
  whole: [...wholeCheckers.keys()],
}

const all = Object.entries(SIMULATIONS).flatMap(([simulation, names]) =>
  names.map((name) => `${simulation}.${name}`),
)

/** The checkers that find a bug, by its name. */
const findersOf = (name: string): ReadonlyArray<string> => [
  ...rules.flatMap((bug) => (bug.name === name ? [`whole.${bug.checker}`] : [])),
  ...Object.entries(PLANTED).flatMap(([simulation, bugs]) =>
    bugs.flatMap((bug) =>
      bug.name === name ? bug.checkers.map((checker) => `${simulation}.${checker}`) : [],
    ),
  ),
]

describe("the table of invariants", () => {
  it("has a row for each of I0 to I14 and of J1 to J11", () => {
    const usage = Array.from({ length: 15 }, (_, number) => `I${number}`)
    const billing = Array.from({ length: 11 }, (_, index) => `J${index + 1}`)
    expect(rows.map(({ invariant }) => invariant)).toEqual([...usage, ...billing])
  })

  it("names each checker of each simulation once or more, and no other", () => {
    const named = new Set(rows.flatMap(({ judged }) => judged))
    expect([...named].toSorted()).toEqual(all.toSorted())
  })

  it("names functions of the files that it links", () => {
    for (const { checkers: text } of rows) {
      // `one` and `another` in [File.ts](src/File.ts), `third` in [Other.ts](src/Other.ts)
      for (const item of text.split("), ")) {
        const [path] = namesIn(item, /\((src\/[^)]+)/g)
        const functions = namesIn(item, /`(\w+)`/g)
        if (path === undefined) continue
        const source = read(path)
        const missing = functions.filter((name) => !source.includes(`const ${name}`))
        expect({ path, missing }).toEqual({ path, missing: [] })
      }
    }
  })

  it("names bugs that one of the checkers of the row finds", () => {
    const strangers = rows.flatMap(({ bugs, judged }) =>
      bugs.filter((bug) => !findersOf(bug).some((finder) => judged.includes(finder))),
    )
    expect(strangers).toEqual([])
  })

  it("names a bug for each invariant but those that have none here", () => {
    const without = rows.filter(({ bugs }) => bugs.length === 0).map(({ invariant }) => invariant)
    expect(without).toEqual(["I0", "J9"])
  })
})
