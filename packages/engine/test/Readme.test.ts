import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { rate } from "../src/index.ts"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

describe("the README", () => {
  it("names every step of its example", () => {
    const { steps } = rate(
      {
        key: "calls",
        model: "graduated",
        meter: "api_calls",
        free: "100",
        tiers: [
          { up_to: "1000", price: { EUR: "0.01" }, flat: { EUR: "2.00" } },
          { price: { EUR: "0.002" } },
        ],
      },
      2_000,
      { currency: "EUR" },
    )
    const table = readme.slice(readme.indexOf("| step "), readme.indexOf("## Models of charges"))
    const rows = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, type]) => type)
    assert.deepStrictEqual(
      rows,
      steps.map(({ type }) => type),
    )
  })
})
