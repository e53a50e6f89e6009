import { AuditRecord, AuditTrail, Customer } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import * as fc from "fast-check"
import * as Difference from "../../src/audit/Difference.ts"
import { numRuns } from "../property.ts"

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const NAMES = ["a", "b", "c", "secretName"]
const shown: Difference.Shown = { fields: NAMES, hidden: new Set(["secretName"]) }

const value = fc.oneof(
  fc.constantFrom(null, true, 0, ""),
  fc.bigInt(),
  fc.string({ maxLength: 20 }),
  fc.constantFrom(0, 1, 2_000).map((size) => ({ deep: ["€".repeat(size), undefined] })),
)
const state = fc.record(Object.fromEntries(NAMES.map((name) => [name, value])))

/** Few values and names, so that many are the same, and some only as JSON. */
const tree = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 2, depthSize: "small" },
    fc.constantFrom<unknown>(undefined, null, 5, 5n, "5", DateTime.makeUnsafe(0), "1970-01-01T00:00:00.000Z"),
    fc.array(tie("tree"), { maxLength: 2 }),
    fc.record({ x: tie("tree"), y: tie("tree") }, { requiredKeys: [], noNullPrototype: true }),
  ),
})).tree

/** JSON with integers as numbers, or as their digits where it can't hold them. So 0 is the same as 0n. */
const plain = (one: unknown): string =>
  JSON.stringify(one ?? null, (_, part: unknown) => {
    if (part === undefined) return null
    if (DateTime.isDateTime(part)) return DateTime.formatIso(part)
    if (typeof part !== "bigint") return part
    return Number.isSafeInteger(Number(part)) ? Number(part) : String(part)
  })

describe("the difference of two states", () => {
  it("names each field that differs, and shows it if it is neither personal nor too large", () => {
    fc.assert(
      fc.property(state, state, (before, after) => {
        const found = Difference.between(shown, before, after)
        const differing = NAMES.filter((name) => plain(before[name]) !== plain(after[name]))
        if (differing.length === 0) return assert.isUndefined(found)
        const isLarge = (name: string) =>
          [before, after].some(
            (one) => Buffer.byteLength(plain(one[name])) > AuditRecord.MAX_AUDITED_FIELD_BYTES,
          )
        const visible = differing.filter((name) => name !== "secretName" && !isLarge(name))
        assert.deepStrictEqual(Object.keys(found!.before!), visible)
        assert.deepStrictEqual(Object.keys(found!.after!), visible)
        assert.deepStrictEqual(
          found!.leftOut,
          differing
            .filter((name) => !visible.includes(name))
            .map((name) => (name === "secretName" ? "secret_name" : name)),
        )
      }),
      { numRuns: numRuns(500) },
    )
  })

  it("is none exactly when both are the same as JSON", () => {
    const fields = { fields: ["a"], hidden: new Set<string>() }
    fc.assert(
      fc.property(tree, tree, (one, other) => {
        const isSame = plain(one) === plain(other)
        assert.strictEqual(Difference.between(fields, { a: one }, { a: other }) === undefined, isSame)
      }),
      { numRuns: numRuns(20_000) },
    )
  })

  it("is never larger than a record may be, and keeps what it has room for", () => {
    const fields = Array.from({ length: 300 }, (_, index) => `field${index}`)
    const all = { fields, hidden: new Set<string>() }
    fc.assert(
      fc.property(fc.array(fc.nat(2_500), { minLength: 1, maxLength: 300 }), (sizes) => {
        const after = Object.fromEntries(sizes.map((size, index) => [`field${index}`, "x".repeat(size)]))
        const found = Difference.between(all, undefined, after)!
        assert.isAtMost(bytes(found.after), AuditRecord.MAX_AUDITED_BYTES)
        assert.isNull(found.before)
        const counted = Object.keys(found.after!).length + found.leftOut.length
        assert.strictEqual(counted, Math.min(sizes.length, AuditRecord.MAX_AUDITED_FIELDS))
      }),
      { numRuns: numRuns(100) },
    )
  })

  it("writes instants as the API does, and integers that JSON can't hold as text", () => {
    const at = DateTime.makeUnsafe("2026-11-21T09:32:00.000Z")
    assert.deepStrictEqual(
      Difference.toJson({ at, small: 5n, large: 10n ** 20n, list: [at, undefined], none: undefined }),
      {
        at: "2026-11-21T09:32:00.000Z",
        small: 5,
        large: "100000000000000000000",
        list: ["2026-11-21T09:32:00.000Z", null],
        none: null,
      },
    )
  })

  it("finds no difference in the order of names", () => {
    const fields = { fields: ["plan"], hidden: new Set<string>() }
    const [one, other] = [
      { key: "pro", at: { b: 1, a: 2 } },
      { at: { a: 2, b: 1 }, key: "pro" },
    ]
    assert.isUndefined(Difference.between(fields, { plan: one }, { plan: other }))
  })

  it("hides what is personal of customers", () => {
    const { hidden } = AuditTrail.auditedOf(Customer.customers)
    assert.deepStrictEqual([...hidden], ["name", "email", "taxId", "address", "metadata"])
  })
})
