/**
 * `billwright usage`: metered usage, over the API of a running server.
 */
import { ExactJson, MeterFields, UsageRecord } from "@billwright/core"
import { Console, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Answer, ApiClient, url } from "./ApiClient.ts"
import * as Listing from "./Listing.ts"
import * as Moment from "./Moment.ts"
import { Misconfigured } from "./Store.ts"
import * as Table from "./Table.ts"
import { json } from "./TenantFlags.ts"

const Record = Schema.Struct({
  id: Schema.String,
  customer_id: Schema.String,
  product_id: Schema.String,
  quantity: Schema.Int,
  unit: Schema.String,
  dimensions: Schema.Record(Schema.String, Schema.String),
  timestamp: Schema.String,
  idempotency_key: Schema.NullOr(Schema.String),
  voided_at: Schema.NullOr(Schema.String),
})
type Record = typeof Record.Type

const RecordList = Schema.Struct({ data: Schema.Array(Record), has_more: Schema.Boolean })

const Total = Schema.Union([Schema.Number, Schema.BigInt])

const Group = Schema.Struct({
  dimensions: Schema.Record(Schema.String, Schema.NullOr(Schema.String)),
  total_quantity: Total,
  denominator: Total,
  record_count: Schema.Int,
})

const Summary = Schema.Struct({
  meter: Schema.NullOr(Schema.String),
  product_id: Schema.NullOr(Schema.String),
  total_quantity: Total,
  denominator: Total,
  groups: Schema.optionalKey(Schema.Array(Group)),
  unit: Schema.NullOr(Schema.String),
  record_count: Schema.Int,
  start_date: Schema.NullOr(Schema.String),
  end_date: Schema.NullOr(Schema.String),
  timezone: Schema.String,
})

const common = { url, json }
const id = Argument.String("id").pipe(Argument.withDescription("The id of the record: usg_…"))
const pathOf = (record: string): string => `/usage/records/${encodeURIComponent(record)}`

const customer = Flag.String("customer").pipe(Flag.withDescription("The id of the customer: cus_…"))

/** The flags that filter the usage of a customer. */
const filters = {
  customer,
  product: Flag.String("product").pipe(
    Flag.withDescription("Only this product. Default: all."),
    Flag.optional,
  ),
  unit: Flag.String("unit").pipe(
    Flag.withDescription("Only usage in this unit. Default: all."),
    Flag.optional,
  ),
}

interface FilterOptions {
  readonly customer: string
  readonly product: Option.Option<string>
  readonly unit: Option.Option<string>
}

const filterOf = ({ customer: customer_id, product, unit }: FilterOptions) => ({
  customer_id,
  product_id: Option.getOrUndefined(product),
  unit: Option.getOrUndefined(unit),
})

const stateOf = (record: Record): string =>
  record.voided_at === null ? "counts" : `voided ${record.voided_at}`

const dimensionsText = (dimensions: Record["dimensions"]): string =>
  Object.entries(dimensions)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")

const describe = (record: Record): string =>
  Table.fields({
    id: record.id,
    customer: record.customer_id,
    product: record.product_id,
    quantity: `${record.quantity} ${record.unit}`,
    ...Object.fromEntries(
      Object.entries(record.dimensions).map(([name, value]) => [`dimension ${name}`, value]),
    ),
    timestamp: record.timestamp,
    "idempotency key": record.idempotency_key ?? "none",
    state: stateOf(record),
  })

const show = ({ text, value }: Answer<Record>, asJson: boolean) =>
  Console.log(asJson ? text : describe(value))

const record = Command.make(
  "record",
  {
    customer,
    product: Flag.String("product").pipe(Flag.withDescription("Your own id for the product.")),
    quantity: Flag.Int("quantity").pipe(
      Flag.withDescription(`The used quantity, in the unit: 0 to ${UsageRecord.MAX_QUANTITY}.`),
    ),
    unit: Flag.String("unit").pipe(Flag.withDescription("What the quantity counts, such as call or byte.")),
    dimension: Flag.KeyValuePair("dimension").pipe(
      Flag.withDescription("What else is known about the usage, as name=value. Can be repeated."),
      Flag.optional,
    ),
    timestamp: Flag.String("timestamp").pipe(
      Flag.withDescription(`When the usage happened: ${Moment.FORMS}. Default: now.`),
      Flag.optional,
    ),
    idempotencyKey: Flag.String("idempotency-key").pipe(
      Flag.withDescription(
        "Count the usage only once, even when the command is run again. Default: each run counts.",
      ),
      Flag.optional,
    ),
    ...common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const body = {
      customer_id: options.customer,
      product_id: options.product,
      quantity: options.quantity,
      unit: options.unit,
      ...(Option.isSome(options.dimension) ? { dimensions: options.dimension.value } : {}),
      ...(Option.isSome(options.timestamp)
        ? { timestamp: yield* Moment.instantOf("timestamp", options.timestamp.value) }
        : {}),
      ...(Option.isSome(options.idempotencyKey) ? { idempotency_key: options.idempotencyKey.value } : {}),
    }
    yield* show(yield* api.post("/usage", Record, JSON.stringify(body)), options.json)
  }),
).pipe(
  Command.withDescription("Record usage of a product by a customer"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command:
        "billwright usage record --customer cus_… --product api --quantity 5 --unit call --idempotency-key request-8f14",
      description: "Record 5 calls, once however often it is run",
    },
    {
      command:
        "billwright usage record --customer cus_… --product chat --quantity 900 --unit token --dimension model=opus --dimension kind=input",
      description: "Record 900 tokens, with their model and kind",
    },
  ]),
)

const day = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** A total may be larger than 2^53, so its digits are kept. */
const readSummary = (text: string) => Schema.decodeUnknownEffect(Summary)(ExactJson.parse(text))

/** Digits after the point of a value that is no integer. */
const DIGITS = 6

/** A value as people read it: the quotient, with up to 6 digits after the point. */
const valueText = ({
  denominator,
  total_quantity: total,
}: Pick<typeof Group.Type, "denominator" | "total_quantity">): string => {
  const scaled = (BigInt(total) * 10n ** BigInt(DIGITS)) / BigInt(denominator)
  const digits = String(scaled).padStart(DIGITS + 1, "0")
  const fraction = digits.slice(-DIGITS).replace(/0+$/, "")
  const isExact = scaled * BigInt(denominator) === BigInt(total) * 10n ** BigInt(DIGITS)
  return `${isExact ? "" : "≈ "}${digits.slice(0, -DIGITS)}${fraction === "" ? "" : `.${fraction}`}`
}

const groupsTable = (groups: ReadonlyArray<typeof Group.Type>): string => {
  const names = Object.keys(groups[0]?.dimensions ?? {})
  return Table.render(
    [...names.map((name) => name.toUpperCase()), "TOTAL", "RECORDS"],
    groups.map((group) => [
      ...names.map((name) => group.dimensions[name] ?? "(none)"),
      valueText(group),
      String(group.record_count),
    ]),
  )
}

/** The flags that ask for a meter. */
const meterFlags = {
  meter: Flag.String("meter").pipe(
    Flag.withDescription("The key of a meter, instead of --product and --unit. Default: none."),
    Flag.optional,
  ),
  where: Flag.String("where").pipe(
    Flag.withDescription(
      "Only records with this dimension, as name=value. Needs --meter. Can be repeated: values of one dimension are alternatives.",
    ),
    Flag.between(0, MeterFields.MAX_METER_DIMENSIONS * MeterFields.MAX_WHERE_VALUES),
  ),
}

interface MeterOptions {
  readonly meter: Option.Option<string>
  readonly where: ReadonlyArray<string>
}

const meterOf = Effect.fnUntraced(function* ({ meter, where }: MeterOptions) {
  const wrong = where.find((pair) => pair.indexOf("=") < 1)
  if (wrong !== undefined) {
    return yield* new Misconfigured({
      message: `--where must be a dimension and a value, such as model=opus: ${wrong}`,
    })
  }
  return { meter: Option.getOrUndefined(meter), where: where.map((pair) => pair.replace("=", ":")) }
})

const summary = Command.make(
  "summary",
  {
    ...filters,
    ...meterFlags,
    groupBy: Flag.String("group-by").pipe(
      Flag.withDescription(
        "A dimension of the meter. Shows the total of each of its values. Can be repeated.",
      ),
      Flag.between(0, MeterFields.MAX_METER_DIMENSIONS),
    ),
    startDate: day("start-date", "The first day, YYYY-MM-DD. Default: no lower limit."),
    endDate: day("end-date", "The last day, YYYY-MM-DD, inclusive. Default: no upper limit."),
    timezone: day("timezone", "The time zone of the days, such as Europe/Paris. Default: UTC."),
    ...common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const { text } = yield* api.get("/usage", Schema.Unknown, {
      ...filterOf(options),
      ...(yield* meterOf(options)),
      group_by: options.groupBy,
      start_date: Option.getOrUndefined(options.startDate),
      end_date: Option.getOrUndefined(options.endDate),
      timezone: Option.getOrUndefined(options.timezone),
    })
    if (options.json) return yield* Console.log(text)
    const found = yield* Effect.orDie(readSummary(text))
    const value = valueText(found)
    yield* Console.log(
      Table.fields({
        total: found.unit === null ? value : `${value} ${found.unit}`,
        records: String(found.record_count),
        ...(found.meter === null ? {} : { meter: found.meter }),
        product: found.product_id ?? "all",
        days: `${found.start_date ?? "the beginning"} to ${found.end_date ?? "now"} (${found.timezone})`,
      }),
    )
    if (found.groups !== undefined) yield* Console.log(`\n${groupsTable(found.groups)}`)
  }),
).pipe(
  Command.withDescription("Show the exact total of a customer's usage"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright usage summary --customer cus_… --start-date 2026-11-01 --end-date 2026-11-30",
      description: "The total of a month",
    },
    {
      command: "billwright usage summary --customer cus_… --meter tokens --where model=opus --group-by kind",
      description: "The tokens of one model, by their kind",
    },
  ]),
)

const records = Command.make(
  "records",
  { ...filters, ...meterFlags, ...Listing.flags, ...common },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const page = yield* api.get("/usage/records", RecordList, {
      ...Listing.query(options),
      ...filterOf(options),
      ...(yield* meterOf(options)),
    })
    yield* Listing.print(
      page,
      ["ID", "PRODUCT", "QUANTITY", "UNIT", "DIMENSIONS", "TIMESTAMP", "STATE"],
      (found) => [
        found.id,
        found.product_id,
        String(found.quantity),
        found.unit,
        dimensionsText(found.dimensions),
        found.timestamp,
        stateOf(found),
      ],
      options.json,
    )
  }),
).pipe(
  Command.withDescription("List the usage records of a customer, newest first"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const get = Command.make(
  "get",
  { id, ...common },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    yield* show(yield* api.get(pathOf(options.id), Record), options.json)
  }),
).pipe(
  Command.withDescription("Show a usage record"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const voidRecord = Command.make(
  "void",
  { id, ...common },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const answer = yield* api.post(`${pathOf(options.id)}/void`, Record, "{}")
    yield* show(answer, options.json)
  }),
).pipe(
  Command.withDescription("Remove a usage record from all totals, and keep it in the list"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const usage = Command.make("usage").pipe(
  Command.withDescription("Record usage, total it, list and void records"),
  Command.withSubcommands([record, summary, records, get, voidRecord]),
)
