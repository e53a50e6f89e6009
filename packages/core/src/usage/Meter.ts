/**
 * A meter: how the usage of a product in a unit becomes a value, and by which dimensions it can be filtered and grouped.
 *
 * A product and unit without a meter is a sum. A meter adds other aggregations and dimensions. Its roll-ups are kept by
 * UTC day and combination of dimensions, so that its values don't need all records (see `Rollup`).
 */
import { Schema } from "effect"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"
import * as TooMany from "../shared/TooMany.ts"
import { Aggregation } from "./Aggregation.ts"
import { DimensionName, MeterDimensions, MeterKey } from "./MeterFields.ts"
import { ProductId, Unit } from "./UsageRecord.ts"

/** The prefix of meter ids. */
export const METER_ID_PREFIX = "mtr"
/** The most meters of a tenant, archived ones included. */
export const MAX_METERS = 1000
/** The most meters of a product and unit that are not archived. Every write to the product and unit serves all of them. */
export const MAX_METERS_PER_PRODUCT_AND_UNIT = 10
/** The longest name of a meter, in code points. */
export const MAX_METER_NAME_LENGTH = 255

/** The longest text about a roll-up that can't be built, in code points. */
const MAX_PROBLEM_LENGTH = 500

export const MeterId = Id.schema(METER_ID_PREFIX).pipe(Schema.brand("MeterId"))
export type MeterId = typeof MeterId.Type

const MeterName = Text.bounded(1, MAX_METER_NAME_LENGTH)

export const MeterStatus = Schema.Literals(["building", "ready", "archived"])
export type MeterStatus = typeof MeterStatus.Type

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * Work on the roll-ups of a meter that is not finished, or that failed.
 *
 * - `building`: the roll-up of this definition is being built. `done` of `total` days have been read.
 * - `removing`: the roll-ups that are no longer used are being removed.
 * - `failed`: the roll-up of this definition can't be built; `problem` says why.
 */
export const MeterRebuild = Schema.Struct({
  aggregation: Aggregation.annotate({ description: "The aggregation that is being built." }),
  dimensions: MeterDimensions.annotate({ description: "The dimensions that are being built." }),
  counted: Schema.NullOr(DimensionName).annotate({
    description: "With `unique_count`, the dimension whose different values are counted.",
  }),
  generation: count.annotate({ description: "Which definition is being built." }),
  status: Schema.Literals(["building", "removing", "failed"]).annotate({
    description:
      "`building`: until it is whole, the old definition answers. `removing`: what is no longer needed is being removed. `failed`: it can't be built.",
  }),
  done: count.annotate({ description: "How many days of customers have been read." }),
  total: count.annotate({ description: "How many days of customers there are to read." }),
  problem: Schema.NullOr(Schema.String.check(Schema.isMaxCodePoints(MAX_PROBLEM_LENGTH))).annotate({
    description: "Why it can't be built.",
  }),
})
export interface MeterRebuild extends Schema.Schema.Type<typeof MeterRebuild> {}

const given = {
  key: Field.text(
    MeterKey,
    "The name of the meter in plans and queries. No other meter ever has it, even when this one is archived.",
  ),
  name: Field.textOrNull(MeterName, "A name for people, or `null`."),
  productId: Field.text(ProductId, "The product whose usage is measured. It never changes."),
  unit: Field.text(Unit, "The unit of that usage. It never changes."),
  aggregation: Field.text(Aggregation, "How records become a value."),
  dimensions: Field.json(
    MeterDimensions,
    "The dimensions of records that usage can be filtered and grouped by: at most 4 names.",
  ),
  counted: Field.textOrNull(
    DimensionName,
    "With `unique_count`, the dimension whose different values are counted; one of `dimensions`. Otherwise `null`.",
  ),
}

/** The definition of the resource; see `Resource`. */
export const meters = Resource.make({
  type: "Meter",
  noun: "meter",
  title: "Meters",
  description:
    "How the usage of a product in a unit becomes a value, and by which dimensions it can be filtered and grouped.",
  about: "Aggregations of usage other than the sum, and dimensions.",
  path: "/meters",
  scope: "usage",
  id: MeterId,
  prefix: METER_ID_PREFIX,
  progress: ["rebuild"],
  fields: {
    ...given,
    status: Field.text(
      MeterStatus,
      "`building` until the meter can be queried for the first time, then `ready`; `archived` at its end.",
    ),
    generation: Field.json(count, "Which definition the values are computed by. It rises with every change."),
    rebuild: Field.jsonOrNull(
      MeterRebuild,
      "The definition that is being built, and how far it is. `null` when no work is left.",
    ),
    archivedAt: Field.instantOrNull("When the meter was archived."),
  },
  times: {
    createdAt: Field.instant("When the meter was created."),
    updatedAt: Field.instant("When its name or definition last changed."),
  },
  create: {
    key: given.key,
    name: Field.optional(given.name),
    productId: given.productId,
    unit: given.unit,
    aggregation: Field.optional(given.aggregation),
    dimensions: Field.optional(given.dimensions),
    counted: Field.optional(given.counted),
  },
  update: {
    name: Field.optional(given.name),
    aggregation: Field.optional(given.aggregation),
    dimensions: Field.optional(given.dimensions),
    counted: Field.optional(given.counted),
  },
  filters: {
    key: Field.optional(Field.saying(given.key, "Only the meter with this key.")),
    productId: Field.optional(Field.saying(given.productId, "Only meters of this product.")),
    unit: Field.optional(Field.saying(given.unit, "Only meters of this unit.")),
    status: Field.optional(Field.text(MeterStatus, "Only meters with this status.")),
  },
  indexed: ["key", "productId", "unit", "status"],
  unique: ["key"],
  operations: {
    create:
      "Creates a meter. The default aggregation is `sum`. If the product and unit already have usage, the meter is built in the background before it can be queried.",
    remove: {
      verb: "Archive",
      past: "archived",
      description:
        "It can no longer be queried, and its key can't be used again. The usage records stay. A meter that a version of a plan names is not archived, because subscriptions may be billed by it. Archiving again changes nothing.",
    },
  },
  example: {
    id: "mtr_01kb2r9d3vffx9qd6k4v2n1h7c",
    key: "tokens",
    name: "Tokens",
    product_id: "completions",
    unit: "token",
    aggregation: "sum",
    dimensions: ["model", "kind"],
    counted: null,
    status: "ready",
    generation: 1,
    rebuild: null,
    archived_at: null,
    created_at: "2026-11-21T09:32:00.000Z",
    updated_at: "2026-11-21T09:32:00.000Z",
  },
  exampleOfUpdate: {
    request: { dimensions: ["model", "kind", "region"] },
    response: {
      rebuild: {
        aggregation: "sum",
        dimensions: ["model", "kind", "region"],
        counted: null,
        generation: 2,
        status: "building",
        done: 40,
        total: 100,
        problem: null,
      },
      updated_at: "2026-11-21T09:45:00.000Z",
    },
  },
})

/** A meter. `updatedAt` is when its name or definition last changed. It begins as `createdAt`. */
export const Meter = meters.Value
export interface Meter extends Schema.Schema.Type<typeof Meter> {}

/** The input of `Meters.create`. Defaults: `sum`, no dimensions, no name. */
export const CreateMeter = meters.Create
export interface CreateMeter extends Schema.Schema.Type<typeof CreateMeter> {}

/** The input of `Meters.update`. Fields left out stay as they are. */
export const UpdateMeter = meters.Update
export interface UpdateMeter extends Schema.Schema.Type<typeof UpdateMeter> {}

/** Which meters to list. */
export const ListMeters = meters.List
export interface ListMeters extends Schema.Schema.Type<typeof ListMeters> {}

/** The tenant has no meter with this id. */
export const MeterNotFound = meters.NotFound
export type MeterNotFound = InstanceType<typeof MeterNotFound>

/** The tenant already has `MAX_METERS` meters. */
export class TooManyMeters extends TooMany.make("TooManyMeters", MAX_METERS, "meters") {}

/** The product and unit already have `MAX_METERS_PER_PRODUCT_AND_UNIT` meters that are not archived. */
export class TooManyMetersOfProduct extends TooMany.make(
  "TooManyMetersOfProduct",
  MAX_METERS_PER_PRODUCT_AND_UNIT,
  "meters for this product and unit",
) {}
