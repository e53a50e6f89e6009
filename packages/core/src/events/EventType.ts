/**
 * The catalogue of event types: what an event may be called and what its data must look like.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import * as Instant from "../shared/Instant.ts"
import { fromIssue, InvalidInput } from "../shared/InvalidInput.ts"
import * as Metadata from "../shared/Metadata.ts"
import * as Text from "../shared/Text.ts"
import { ThresholdId, ThresholdPeriod } from "../usage/Threshold.ts"
import { ProductId, Unit } from "../usage/UsageRecord.ts"

/** Longest name of an event type, in characters. */
export const MAX_EVENT_TYPE_LENGTH = 100
/** Most event types of one catalogue. */
export const MAX_EVENT_TYPES = 1_000

const nameMessage = {
  message: `must be an event type such as invoice.paid: lower-case words joined by dots, at most ${MAX_EVENT_TYPE_LENGTH} characters`,
}
/** Lower-case words joined by dots, two at least: `invoice.paid`. */
export const EventTypeName = Schema.String.check(
  Schema.isMaxLength(MAX_EVENT_TYPE_LENGTH, nameMessage),
  Schema.isPattern(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/u, nameMessage),
)

/** A Schema of data as JSON: what it encodes to is what is sent, and it needs no services. */
export type DataSchema = Schema.Codec<unknown, unknown>

/** One type of event. */
export interface EventType<Name extends string = string, Data extends DataSchema = DataSchema> {
  readonly name: Name
  /** What it tells, in one sentence. */
  readonly description: string
  /** What `data` must look like on the wire. Fields that it doesn't name are refused. */
  readonly data: Data
  /** Data as it is sent. Test events carry it. */
  readonly example: Data["Encoded"]
}

/**
 * Defines an event type of the host's own. Throws a `TypeError` when its name is none or its example does not
 * fit its Schema: a catalogue that is wrong is a bug of the program.
 */
export const make = <const Name extends string, Data extends DataSchema>(
  type: EventType<Name, Data>,
): EventType<Name, Data> => {
  if (!Schema.is(EventTypeName)(type.name)) throw new TypeError(`"${type.name}" is no name of an event type`)
  const problem = problemOf(type, type.example)
  if (problem !== undefined) throw new TypeError(`the example of ${type.name}: ${problem.message}`)
  return type
}

const issueOf = (schema: DataSchema) => Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })

/** The first rule of its type that some data breaks. Fields are named from `data` on: `data.amount`. */
export const problemOf = (type: EventType, data: unknown): InvalidInput | undefined => {
  const result = issueOf(type.data)(data)
  if (result._tag === "Success") return undefined
  const { field, problem } = fromIssue(result.failure.issue, "")
  const separator = field === "" || field.startsWith("[") ? "" : "."
  return new InvalidInput({ field: `data${separator}${field}`, problem })
}

/** An id of the host's: 1 to 255 characters. */
const ForeignId = Text.bounded(1, 255)
const amountMessage = {
  message: "must be an integer of the currency's minor unit, from 0 to 9007199254740991",
}
/** Money: an integer of the currency's minor unit (cents of EUR, yen of JPY), never a fraction. */
const Amount = Schema.Number.annotate(amountMessage).check(
  Schema.isInt(amountMessage),
  Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, amountMessage),
)
/** An ISO 4217 code: three capital letters. */
const Currency = Schema.String.check(
  Schema.isPattern(/^[A-Z]{3}$/u, { message: "must be an ISO 4217 currency code such as EUR" }),
)
const isWireInstant = (text: string): boolean =>
  Instant.parse(text) !== undefined && text === text.toUpperCase()
const WireInstant = Schema.String.check(
  Schema.makeFilter<string>(isWireInstant, {
    message: "must be an RFC 3339 instant such as 2026-11-21T09:30:00Z",
    toJsonSchema: () => ({ format: "date-time", maxLength: Instant.MAX_INSTANT_LENGTH }),
  }),
)
/** The fields of built-in types that hold instants. None of these types has one for something else. */
export const INSTANT_FIELDS = [
  "due_at",
  "paid_at",
  "period_start",
  "period_end",
  "current_period_start",
  "current_period_end",
] as const
const metadata = Schema.optionalKey(Metadata.Metadata)
const isWireInteger = (value: unknown): boolean => typeof value === "bigint" || Number.isSafeInteger(value)
/** A total may be larger than what a double holds, so both forms of an integer are taken. JSON has one for them. */
const WireInteger = Schema.Any.check(
  Schema.makeFilter(isWireInteger, {
    message: "must be an integer",
    toJsonSchema: () => ({ type: "integer" }),
  }),
)

const InvoiceData = Schema.Struct({
  invoice_id: ForeignId,
  customer_id: ForeignId,
  amount: Amount,
  currency: Currency,
  number: Schema.optionalKey(Text.bounded(1, 100)),
  due_at: Schema.optionalKey(WireInstant),
  paid_at: Schema.optionalKey(WireInstant),
  period_start: Schema.optionalKey(WireInstant),
  period_end: Schema.optionalKey(WireInstant),
  metadata,
})

const paymentFields = {
  payment_id: ForeignId,
  customer_id: ForeignId,
  amount: Amount,
  currency: Currency,
  invoice_id: Schema.optionalKey(ForeignId),
  metadata,
}

const SubscriptionData = Schema.Struct({
  subscription_id: ForeignId,
  customer_id: ForeignId,
  product_id: ProductId,
  current_period_start: Schema.optionalKey(WireInstant),
  current_period_end: Schema.optionalKey(WireInstant),
  metadata,
})

const invoice = { invoice_id: "in_2026_0042", customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1" }
const payment = { payment_id: "pay_7f3a", customer_id: invoice.customer_id, invoice_id: invoice.invoice_id }
const subscription = {
  subscription_id: "sub_5512",
  customer_id: invoice.customer_id,
  product_id: "api",
  current_period_start: "2026-11-01T00:00:00.000Z",
  current_period_end: "2026-12-01T00:00:00.000Z",
}
const price = { amount: 4200, currency: "EUR" }

/** A usage threshold was reached. Published by the record that reaches it, in its transaction. */
export const usageThreshold = make({
  name: "usage.threshold",
  description: "A customer's usage reached a threshold in one of its periods.",
  data: Schema.Struct({
    threshold_id: ThresholdId,
    customer_id: CustomerId,
    product_id: ProductId,
    unit: Unit,
    /** The threshold. */
    quantity: WireInteger,
    period: ThresholdPeriod,
    /** Which period: `2026-11-21`, `2026-11` or `lifetime`. */
    period_key: Text.bounded(1, 10),
    /** The total of the period when the threshold was reached. */
    total_quantity: WireInteger,
  }),
  example: {
    threshold_id: "thr_01kahd3kc8e0fsr8zknzqgf2h2",
    customer_id: invoice.customer_id,
    product_id: "api",
    unit: "call",
    quantity: 1000,
    period: "month",
    period_key: "2026-11",
    total_quantity: 1003,
  },
})

/** The types that every catalogue has. A host's type of the same name takes the place of one of these. */
export const builtIn: ReadonlyArray<EventType> = [
  make({
    name: "invoice.created",
    description: "An invoice was created.",
    data: InvoiceData,
    example: { ...invoice, ...price, number: "2026-0042", due_at: "2026-12-21T00:00:00.000Z" },
  }),
  make({
    name: "invoice.paid",
    description: "An invoice was paid in full.",
    data: InvoiceData,
    example: { ...invoice, ...price, number: "2026-0042", paid_at: "2026-11-21T09:30:00.000Z" },
  }),
  make({
    name: "payment.succeeded",
    description: "A payment succeeded.",
    data: Schema.Struct(paymentFields),
    example: { ...payment, ...price },
  }),
  make({
    name: "payment.failed",
    description: "A payment failed.",
    data: Schema.Struct({
      ...paymentFields,
      failure_code: Schema.optionalKey(Text.bounded(1, 100)),
      failure_message: Schema.optionalKey(Text.bounded(1, 500)),
    }),
    example: { ...payment, ...price, failure_code: "card_declined" },
  }),
  make({
    name: "subscription.created",
    description: "A subscription was created; it is not active yet.",
    data: SubscriptionData,
    example: subscription,
  }),
  make({
    name: "subscription.activated",
    description: "A subscription became active.",
    data: SubscriptionData,
    example: subscription,
  }),
  usageThreshold,
]

/** The types that may be published here. */
export class EventTypes extends Context.Service<
  EventTypes,
  {
    /** In the order of their names. */
    readonly all: ReadonlyArray<EventType>
    readonly find: (name: string) => EventType | undefined
  }
>()("@billwright/core/events/EventTypes") {
  /** The built-in types and the host's own. */
  static readonly layerWith = (own: ReadonlyArray<EventType>) =>
    Layer.effect(
      EventTypes,
      Effect.sync(() => {
        const byName = new Map([...builtIn, ...own].map((type) => [type.name, type]))
        if (byName.size > MAX_EVENT_TYPES) {
          throw new TypeError(`there are more than ${MAX_EVENT_TYPES} event types`)
        }
        const all = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
        return EventTypes.of({ all, find: (name) => byName.get(name) })
      }),
    )

  static readonly layer = EventTypes.layerWith([])
}
