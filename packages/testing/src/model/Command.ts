/**
 * What the model tests do to a storage: commands as data, so that a failing run prints as what was done.
 *
 * Things are named by number: the nth customer made so far, whoever's it is. One number more is a thing that was
 * never made.
 */
import type { Threshold } from "@billwright/core"
import * as fc from "fast-check"
import * as Generators from "../Generators.ts"

/** Which of three tenants: the test's own most of the time, or one of the two nearest to it. */
const tenant = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constant(2) },
)
// The first ones most of the time, so that commands meet at the same thing.
const thing = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 2 }) },
  { weight: 1, arbitrary: fc.nat({ max: 7 }) },
)
const day = fc.nat({ max: 4 })
const email = fc.nat({ max: 2 })
const productId = fc.constantFrom("api", "storage")
const unit = fc.constantFrom("call", "byte")

const page = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  cursor: fc.option(fc.record({ direction: fc.constantFrom<"older" | "newer">("older", "newer"), thing }), {
    freq: 3,
  }),
})

const quantity = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 6 }) },
  { weight: 1, arbitrary: Generators.quantity },
)

const record = fc
  .record({
    customer: fc.nat({ max: 2 }),
    productId,
    unit,
    quantity,
    timestamp: Generators.nearbyInstant,
    hasOwnTimestamp: fc.boolean(),
    key: fc.option(fc.nat({ max: 3 }), { freq: 2 }),
    isUsual: fc.boolean(),
  })
  // A key has its usual content half of the time, or hardly any record would be a duplicate.
  .map(({ isUsual, ...fields }) =>
    isUsual && fields.key !== null
      ? { ...fields, customer: 0, productId: "api", unit: "call", quantity: fields.key }
      : fields,
  )

type ValuesOf<Fields> = { readonly [K in keyof Fields]: Fields[K] extends fc.Arbitrary<infer A> ? A : never }

const command = <Name extends string, Fields extends Record<string, object>>(name: Name, fields: Fields) => {
  const model = { command: fc.constant(name), tenant, ...fields } as Record<string, fc.Arbitrary<unknown>>
  return fc.record(model) as unknown as fc.Arbitrary<
    { readonly command: Name; readonly tenant: number } & ValuesOf<Fields>
  >
}

/** Commands that are one verb. */
const verb = fc.oneof(
  { weight: 4, arbitrary: command("createCustomer", { email }) },
  { weight: 2, arbitrary: command("modifyCustomer", { customer: thing, email, fails: fc.boolean() }) },
  { weight: 2, arbitrary: command("eraseCustomer", { customer: thing }) },
  { weight: 4, arbitrary: command("listCustomers", { email: fc.option(email), page }) },
  { weight: 8, arbitrary: command("append", { records: fc.array(record, { minLength: 1, maxLength: 6 }) }) },
  { weight: 5, arbitrary: command("void", { record: thing, day }) },
  {
    weight: 2,
    arbitrary: command("listRecords", {
      customer: thing,
      productId: fc.option(productId),
      unit: fc.option(unit),
      page,
    }),
  },
  {
    weight: 3,
    arbitrary: command("totals", {
      customer: thing,
      productId: fc.option(productId),
      unit: fc.option(unit),
      by: fc.constantFrom<"unit" | "meter">("unit", "meter"),
      boundaries: Generators.boundaries,
    }),
  },
  {
    weight: 3,
    arbitrary: command("insertThreshold", {
      customer: thing,
      productId,
      unit,
      quantity: fc.integer({ min: 1, max: 8 }),
      period: fc.constantFrom<Threshold.ThresholdPeriod>("day", "month", "lifetime"),
    }),
  },
  { weight: 1, arbitrary: command("deleteThreshold", { threshold: thing }) },
  { weight: 1, arbitrary: command("listThresholds", { customer: fc.option(thing), page }) },
  { weight: 1, arbitrary: command("insertKey", {}) },
  {
    weight: 4,
    arbitrary: command("changeKey", {
      key: fc.nat({ max: 2 }),
      verb: fc.constantFrom<"revoke" | "expire" | "touch">("revoke", "expire", "touch"),
      day,
    }),
  },
  { weight: 1, arbitrary: command("listKeys", { page }) },
)
type Verb = typeof verb extends fc.Arbitrary<infer A> ? A : never

/** Commands around others: they commit, or fail and leave nothing. */
interface Around {
  readonly tenant: number
  readonly end: "succeed" | "fail" | "die"
  readonly commands: ReadonlyArray<Command>
}
interface Atomically extends Around {
  readonly command: "atomically"
}
interface Once extends Around {
  readonly command: "once"
  readonly key: number
  readonly fingerprint: number
  readonly day: number
}

export type Command = Verb | Atomically | Once

const end = fc.constantFrom<Around["end"]>("succeed", "succeed", "fail", "die")

const around = (inner: fc.Arbitrary<Command>): fc.Arbitrary<Atomically> =>
  fc.record({
    command: fc.constant("atomically"),
    tenant: fc.constant(0),
    end,
    commands: fc.array(inner, { maxLength: 4 }),
  })

// A request never runs within itself, so `once` holds nothing that may hold `once`.
const once: fc.Arbitrary<Once> = fc.record({
  command: fc.constant("once"),
  tenant,
  end,
  commands: fc.array(fc.oneof({ weight: 4, arbitrary: verb }, { weight: 1, arbitrary: around(verb) }), {
    maxLength: 4,
  }),
  key: fc.nat({ max: 1 }),
  fingerprint: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
  day,
})

const flat: fc.Arbitrary<Command> = fc.oneof({ weight: 5, arbitrary: verb }, { weight: 1, arbitrary: once })
const nested: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: flat },
  { weight: 1, arbitrary: around(flat) },
)

/** What every run begins with, so that there is something to do things to. */
const beginning: ReadonlyArray<Command> = [
  { command: "createCustomer", tenant: 0, email: 0 },
  { command: "createCustomer", tenant: 0, email: 0 },
  { command: "insertKey", tenant: 0 },
  {
    command: "insertThreshold",
    tenant: 0,
    customer: 0,
    productId: "api",
    unit: "call",
    quantity: 2,
    period: "day",
  },
]

/** Any commands, up to `maxLength` and what is inside them. */
export const commands = (maxLength: number): fc.Arbitrary<ReadonlyArray<Command>> =>
  fc
    .array(fc.oneof({ weight: 5, arbitrary: flat }, { weight: 1, arbitrary: around(nested) }), {
      maxLength,
      size: "max",
    })
    .map((list) => [...beginning, ...list])
