/**
 * `billwright spend-alerts`: alerts when usage costs an amount of money, over the API of a running server.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"

const kind: Api.Kind = { noun: "a spend alert", nouns: "spend alerts", path: "/spend_alerts", prefix: "spa" }

const create = Command.make(
  "create",
  {
    customer: Flag.String("customer").pipe(Flag.withDescription("Whose spend is watched: cus_…")),
    subscription: Api.optional(
      "subscription",
      "Only this subscription, in each of its periods: sub_…. Default: all of the customer's, in a UTC month.",
    ),
    currency: Flag.String("currency").pipe(Flag.withDescription("The currency of the amount, such as EUR.")),
    amount: Flag.Int("amount").pipe(
      Flag.withDescription("The spend at which it fires, in the minor unit: 10000 is 100.00 EUR."),
    ),
    repeat: Flag.Literals("repeat", ["once", "multiples"]).pipe(
      Flag.withDescription("once: it fires once in a period. multiples: at each multiple of its amount."),
      Flag.withDefault("once" as const),
    ),
    action: Flag.Literals("action", ["notify", "block", "invoice"]).pipe(
      Flag.withDescription(
        "notify: it publishes its event. block: it also refuses what is beyond soft limits, until the period ends.",
      ),
      Flag.withDefault("notify" as const),
    ),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { customer: customer_id, json, subscription: subscription_id, url: _, ...fields } = options
    yield* Api.send("/spend_alerts", { customer_id, subscription_id, ...fields }, json)
  }),
).pipe(
  Command.withDescription("Watch what a customer's usage costs"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright spend-alerts create --customer cus_… --currency EUR --amount 10000",
      description: "Publish an event when usage of a month costs 100.00 EUR",
    },
  ]),
)

export const spendAlerts = Command.make("spend-alerts").pipe(
  Command.withDescription("Watch what customers' usage costs"),
  Command.withSubcommands([
    create,
    Api.getter(kind),
    Api.lister(
      kind,
      [
        "id",
        "customer_id",
        "subscription_id",
        "currency",
        "amount",
        "repeat",
        "action",
        "fired_at",
        "blocked_until",
      ],
      { customer_id: Api.optional("customer", "Only alerts of this customer. Default: all.") },
    ),
    Api.remover(kind, "deleted", {
      name: "delete",
      description: "Delete a spend alert: it won't fire again, and blocks no more",
      warning: "delete the spend alert for good",
    }),
  ]),
)
