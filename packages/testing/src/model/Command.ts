/**
 * The commands of the model tests, as data, so that a failing run can be printed.
 *
 * Commands refer to things by number: number n is the nth customer made so far, by any tenant. The number after the
 * last one refers to a customer that was never made.
 */
import type { Rollup, Threshold } from "@billwright/core"
import * as fc from "fast-check"
import * as Generators from "../Generators.ts"
import { cut, rollupDefinition, recordDimensions } from "../generators/MeterGenerators.ts"
import { command, day, page, tenant, thing } from "./CommandParts.ts"
import { type Claim, claim, type LookAtDeliveries, webhookVerb, type WebhookVerb } from "./WebhookCommand.ts"

const email = fc.nat({ max: 2 })
const productId = fc.constantFrom("api", "storage")
const unit = fc.constantFrom("call", "byte")

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
    dimensions: recordDimensions,
    timestamp: Generators.nearbyInstant,
    hasOwnTimestamp: fc.boolean(),
    key: fc.option(fc.nat({ max: 3 }), { freq: 2 }),
    isUsual: fc.boolean(),
  })
  // A key comes with its usual content half of the time. Otherwise hardly any record would be a duplicate.
  .map(({ isUsual, ...fields }) =>
    isUsual && fields.key !== null
      ? { ...fields, customer: 0, productId: "api", unit: "call", quantity: fields.key, dimensions: {} }
      : fields,
  )

const definition: fc.Arbitrary<Rollup.Definition> = rollupDefinition

/** Reads a meter. Which part of the filter and of the groups applies depends on the meter. */
const askMeter = fc
  .tuple(command("askMeter", { meter: thing, customer: thing, boundaries: Generators.boundaries }), cut)
  .map(([asked, { groupBy, where }]) => ({ ...asked, groupBy, where }))

/** Commands that call one method. */
const billingVerb = fc.oneof(
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
    weight: 2,
    arbitrary: command("insertMeter", {
      key: fc.nat({ max: 4 }),
      productId,
      unit,
      definition,
    }),
  },
  { weight: 1, arbitrary: command("redefineMeter", { meter: thing, definition }) },
  { weight: 3, arbitrary: askMeter },
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
  { weight: 1, arbitrary: command("insertKey", { expires: fc.option(day) }) },
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
type Verb = (typeof billingVerb extends fc.Arbitrary<infer A> ? A : never) | WebhookVerb
const verb: fc.Arbitrary<Verb> = fc.oneof(
  { weight: 1, arbitrary: billingVerb },
  { weight: 1, arbitrary: webhookVerb },
)

/** Commands that contain others: they commit, or fail and leave nothing. */
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

/** Does all work on the meters of all tenants. */
interface DriveMeters {
  readonly command: "driveMeters"
  readonly tenant: number
}

export type Command = Verb | Claim | DriveMeters | LookAtDeliveries | Atomically | Once

const driveMeters: DriveMeters = { command: "driveMeters", tenant: 0 }

const end = fc.constantFrom<Around["end"]>("succeed", "succeed", "fail", "die")

const around = (inner: fc.Arbitrary<Command>): fc.Arbitrary<Atomically> =>
  fc.record({
    command: fc.constant("atomically"),
    tenant: fc.constant(0),
    end,
    commands: fc.array(inner, { maxLength: 4 }),
  })

// A request never runs inside of itself, so `once` contains nothing that may contain `once`.
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

/** The first commands of every run, so that later ones have something to act on. */
const beginning: ReadonlyArray<Command> = [
  { command: "createCustomer", tenant: 0, email: 0 },
  { command: "createCustomer", tenant: 0, email: 0 },
  { command: "insertKey", tenant: 0, expires: null },
  {
    command: "insertMeter",
    tenant: 0,
    key: 0,
    productId: "api",
    unit: "call",
    definition: { aggregation: "time_weighted", dimensions: ["model"], counted: null },
  },
  driveMeters,
  {
    command: "insertThreshold",
    tenant: 0,
    customer: 0,
    productId: "api",
    unit: "call",
    quantity: 2,
    period: "day",
  },
  { command: "createEndpoint", tenant: 0, types: ["*"], status: "enabled" },
  { command: "createEndpoint", tenant: 0, types: ["*"], status: "enabled" },
  {
    command: "publish",
    tenant: 0,
    type: "invoice.paid",
    day: 0,
    customer: null,
    key: 0,
    n: 0,
    endpoint: null,
  },
  {
    command: "publish",
    tenant: 0,
    type: "invoice.paid",
    day: 0,
    customer: null,
    key: null,
    n: 0,
    endpoint: 0,
  },
]

/** Any commands: up to `maxLength`, and those inside of them. */
export const commands = (maxLength: number): fc.Arbitrary<ReadonlyArray<Command>> =>
  fc
    .array(
      fc.oneof(
        { weight: 10, arbitrary: flat },
        { weight: 2, arbitrary: around(nested) },
        { weight: 2, arbitrary: claim },
        { weight: 1, arbitrary: fc.constant(driveMeters) },
      ),
      { maxLength, size: "max" },
    )
    .map((list) => [...beginning, ...list])
