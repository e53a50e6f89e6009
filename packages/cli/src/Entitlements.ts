/**
 * `billwright entitlements`: what customers may use, over the API of a running server.
 */
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"

const EntitlementList = Schema.Struct({ data: Schema.Array(Api.Shown) })

const COLUMNS = [
  "feature",
  "type",
  "allowed",
  "reason",
  "value",
  "limit",
  "rolled_over",
  "used",
  "balance",
  "resets_at",
]

const customer = Flag.String("customer").pipe(Flag.withDescription("The customer: cus_…"))
const feature = Argument.String("feature").pipe(Argument.withDescription("The key of a feature."))
const quantity = Api.optionalInt("quantity", "How much of a metered feature. Default: 1.")

const list = Command.make(
  "list",
  { customer, ...Api.common },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const { text, value } = yield* api.get("/entitlements", EntitlementList, {
      customer_id: options.customer,
    })
    yield* Api.printTable({ text, value: value.data }, COLUMNS, options.json)
  }),
).pipe(
  Command.withDescription("List the features of a customer's plans, and what is left of them"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const check = Command.make(
  "check",
  { feature, customer, quantity, ...Api.common },
  Effect.fn(function* (options) {
    const body = { feature: options.feature, customer_id: options.customer, quantity: options.quantity }
    yield* Api.send("/entitlements/check", body, options.json)
  }),
).pipe(
  Command.withDescription("Say whether a customer may use a feature now"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const consume = Command.make(
  "consume",
  {
    feature,
    customer,
    quantity,
    dimensions: Api.pairs("dimension", "A dimension of the usage record, as region=eu."),
    idempotency_key: Api.optional("idempotency-key", "The same again with a key records nothing."),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { customer: customer_id, json, url: _, ...fields } = options
    yield* Api.send("/entitlements/consume", { customer_id, ...fields }, json)
  }),
).pipe(
  Command.withDescription("Use a metered feature, if the customer may"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright entitlements consume exports --customer cus_… --quantity 3",
      description: "Use three exports",
    },
  ]),
)

export const entitlements = Command.make("entitlements").pipe(
  Command.withDescription("Check and use what customers' plans include"),
  Command.withSubcommands([list, check, consume]),
)
