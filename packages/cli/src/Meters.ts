/**
 * `billwright meters`: how usage becomes a value, over the API of a running server.
 */
import { Aggregation } from "@billwright/core"
import { Console, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Answer, ApiClient, url } from "./ApiClient.ts"
import * as Listing from "./Listing.ts"
import { Misconfigured } from "./Store.ts"
import * as Table from "./Table.ts"
import { json } from "./TenantFlags.ts"

const Definition = {
  aggregation: Schema.String,
  dimensions: Schema.Array(Schema.String),
  counted: Schema.NullOr(Schema.String),
}

const Meter = Schema.Struct({
  id: Schema.String,
  key: Schema.String,
  name: Schema.NullOr(Schema.String),
  product_id: Schema.String,
  unit: Schema.String,
  ...Definition,
  status: Schema.String,
  rebuild: Schema.NullOr(
    Schema.Struct({
      ...Definition,
      status: Schema.Literals(["building", "removing", "failed"]),
      done: Schema.Int,
      total: Schema.Int,
      problem: Schema.NullOr(Schema.String),
    }),
  ),
})
type Meter = typeof Meter.Type

const MeterList = Schema.Struct({ data: Schema.Array(Meter), has_more: Schema.Boolean })
const Deleted = Schema.Struct({ id: Schema.String, deleted: Schema.Boolean })

const common = { url, json }
const name = Argument.String("meter").pipe(Argument.withDescription("The key of the meter, or its id: mtr_…"))
const pathOf = (id: string): string => `/meters/${encodeURIComponent(id)}`

const ID = /^mtr_[0-9a-z]{26}$/

/** The id of a meter that is named by its key or its id. */
const idOf = Effect.fnUntraced(function* (meter: string) {
  if (ID.test(meter)) return meter
  const { value } = yield* (yield* ApiClient).get("/meters", MeterList, { key: meter, limit: "1" })
  const [found] = value.data
  if (found !== undefined) return found.id
  return yield* new Misconfigured({ message: `no meter has the key ${meter}: billwright meters list` })
})

const definitionText = ({ aggregation, counted, dimensions }: Pick<Meter, keyof typeof Definition>): string =>
  `${aggregation}${counted === null ? "" : ` of ${counted}`}${dimensions.length === 0 ? "" : ` by ${dimensions.join(", ")}`}`

/** How far the work on a meter is. */
const progressOf = ({ rebuild }: Meter): string => {
  if (rebuild === null) return "nothing left to do"
  if (rebuild.status === "failed") return `failed: ${rebuild.problem ?? ""}`
  if (rebuild.status === "removing") return "removing what is no longer needed"
  return `${definitionText(rebuild)}: ${rebuild.done} of ${rebuild.total} days`
}

const describe = (meter: Meter): string =>
  Table.fields({
    id: meter.id,
    key: meter.key,
    ...(meter.name === null ? {} : { name: meter.name }),
    product: meter.product_id,
    unit: meter.unit,
    definition: definitionText(meter),
    status: meter.status,
    ...(meter.rebuild === null ? {} : { work: progressOf(meter) }),
  })

const show = ({ text, value }: Answer<Meter>, asJson: boolean) => Console.log(asJson ? text : describe(value))

const aggregation = Flag.Literals("aggregation", Aggregation.Aggregation.literals)
const dimension = Flag.String("dimension")
const counted = Flag.String("counted")

const create = Command.make(
  "create",
  {
    key: Flag.String("key").pipe(
      Flag.withDescription("The name of the meter in queries and plans. It never changes."),
    ),
    name: Flag.String("name").pipe(Flag.withDescription("A name for people. Default: none."), Flag.optional),
    product: Flag.String("product").pipe(Flag.withDescription("The product whose usage is measured.")),
    unit: Flag.String("unit").pipe(Flag.withDescription("The unit of that usage.")),
    aggregation: aggregation.pipe(
      Flag.withDescription("How records become a value. Default: sum."),
      Flag.optional,
    ),
    dimension: dimension.pipe(
      Flag.withDescription("A dimension to filter and group by. Can be repeated. Default: none."),
      Flag.between(0, 4),
    ),
    counted: counted.pipe(
      Flag.withDescription("The dimension whose different values unique_count counts."),
      Flag.optional,
    ),
    ...common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const body = {
      key: options.key,
      name: Option.getOrUndefined(options.name),
      product_id: options.product,
      unit: options.unit,
      aggregation: Option.getOrUndefined(options.aggregation),
      dimensions: options.dimension,
      counted: Option.getOrUndefined(options.counted),
    }
    yield* show(yield* api.post("/meters", Meter, JSON.stringify(body)), options.json)
  }),
).pipe(
  Command.withDescription("Create a meter"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command:
        "billwright meters create --key tokens --product chat --unit token --dimension model --dimension kind",
      description: "Sum up tokens, which can be filtered and grouped by model and kind",
    },
    {
      command:
        "billwright meters create --key users --product chat --unit request --aggregation unique_count --dimension user --counted user",
      description: "Count the different users",
    },
  ]),
)

const get = Command.make(
  "get",
  { name, ...common },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    yield* show(yield* api.get(pathOf(yield* idOf(options.name)), Meter), options.json)
  }),
).pipe(
  Command.withDescription("Show a meter"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const list = Command.make(
  "list",
  { ...Listing.flags, ...common },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const page = yield* api.get("/meters", MeterList, Listing.query(options))
    yield* Listing.print(
      page,
      ["ID", "KEY", "PRODUCT", "UNIT", "DEFINITION", "STATUS", "WORK"],
      (meter) => [
        meter.id,
        meter.key,
        meter.product_id,
        meter.unit,
        definitionText(meter),
        meter.status,
        meter.rebuild === null ? "" : progressOf(meter),
      ],
      options.json,
    )
  }),
).pipe(
  Command.withDescription("List meters, newest first"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const update = Command.make(
  "update",
  {
    name,
    newName: Flag.String("name").pipe(
      Flag.withDescription("The new name for people. Default: unchanged."),
      Flag.optional,
    ),
    aggregation: aggregation.pipe(
      Flag.withDescription("The new aggregation. Default: unchanged."),
      Flag.optional,
    ),
    dimension: dimension.pipe(
      Flag.withDescription(
        "A dimension to filter and group by, instead of those before. Can be repeated. Default: unchanged.",
      ),
      Flag.between(0, 4),
    ),
    noDimensions: Flag.Boolean("no-dimensions").pipe(
      Flag.withDescription("Declare no dimensions any more."),
      Flag.withDefault(false),
    ),
    counted: counted.pipe(
      Flag.withDescription("The dimension whose different values unique_count counts. Default: unchanged."),
      Flag.optional,
    ),
    ...common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const hasDimensions = options.noDimensions || options.dimension.length > 0
    const body = {
      ...(Option.isSome(options.newName) ? { name: options.newName.value } : {}),
      ...(Option.isSome(options.aggregation) ? { aggregation: options.aggregation.value } : {}),
      ...(hasDimensions ? { dimensions: options.noDimensions ? [] : options.dimension } : {}),
      ...(Option.isSome(options.counted) ? { counted: options.counted.value } : {}),
    }
    if (Object.keys(body).length === 0) {
      return yield* new Misconfigured({
        message: "nothing to change: give --name, --aggregation, --dimension, --no-dimensions or --counted",
      })
    }
    const path = pathOf(yield* idOf(options.name))
    return yield* show(yield* api.patch(path, Meter, JSON.stringify(body)), options.json)
  }),
).pipe(
  Command.withDescription("Change a meter. Until a new definition is built, the old one answers"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const archive = Command.make(
  "archive",
  {
    name,
    yes: Flag.Boolean("yes").pipe(
      Flag.withDescription("Confirm that the meter ends for good, and that its key can't be used again."),
      Flag.withDefault(false),
    ),
    ...common,
  },
  Effect.fn(function* (options) {
    if (!options.yes) {
      return yield* new Misconfigured({
        message: `this would end the meter ${options.name} for good and keep its usage: add --yes to do it`,
      })
    }
    const api = yield* ApiClient
    const { text, value } = yield* api.delete(pathOf(yield* idOf(options.name)), Deleted)
    return yield* Console.log(options.json ? text : `${value.id} is archived.`)
  }),
).pipe(
  Command.withDescription("End a meter for good, and keep the usage"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

/** Asks the server to work on a meter until nothing is left. Progress goes to standard error. */
const workOn = Effect.fnUntraced(function* (id: string) {
  const api = yield* ApiClient
  while (true) {
    const answer = yield* api.post(`${pathOf(id)}/rebuild`, Meter, "{}")
    const { rebuild } = answer.value
    if (rebuild === null || rebuild.status === "failed") return answer
    yield* Console.error(progressOf(answer.value))
  }
})

const rebuild = Command.make(
  "rebuild",
  { name, ...common },
  Effect.fn(function* (options) {
    const answer = yield* workOn(yield* idOf(options.name))
    yield* show(answer, options.json)
    if (answer.value.rebuild !== null)
      return yield* new Misconfigured({ message: `the meter can't be built: ${progressOf(answer.value)}` })
  }),
).pipe(
  Command.withDescription("Do the work that is left on a meter now, and show its progress"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const meters = Command.make("meters").pipe(
  Command.withDescription("Create, show, change, build and archive meters"),
  Command.withSubcommands([create, get, list, update, archive, rebuild]),
)
