/**
 * `billwright credits`: what customers have in advance, over the API of a running server.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"

const grantKind: Api.Kind = {
  noun: "a credit grant",
  nouns: "credit grants",
  path: "/credit_grants",
  prefix: "cgr",
}
const entryKind: Api.Kind = {
  noun: "a credit entry",
  nouns: "credit entries",
  path: "/credit_entries",
  prefix: "cen",
}
const holdKind: Api.Kind = { noun: "a hold", nouns: "holds", path: "/holds", prefix: "hld" }

const account = {
  customer: Flag.String("customer").pipe(Flag.withDescription("The customer: cus_…")),
  unit: Flag.String("unit").pipe(
    Flag.withDescription("What the credits count: a currency such as EUR, or a unit of yours such as token."),
  ),
}

const purpose = Api.optional(
  "purpose",
  "What they are to be used for: the key of a charge or a feature. Then grants count, too, that have it in their scope. Default: anything.",
)

/** Most keys of a scope: the limit of the API. */
const MAX_SCOPE_KEYS = 20

const filters = (nouns: string) => ({
  customer_id: Api.optional("customer", `Only ${nouns} of this customer. Default: all.`),
  unit: Api.optional("unit", `Only ${nouns} of this unit. Default: all.`),
})

const balance = Command.make(
  "balance",
  { ...account, purpose, ...Api.common },
  Effect.fn(function* (options) {
    const query = { customer_id: options.customer, unit: options.unit, purpose: options.purpose }
    yield* Api.fetchOne("/credit_balance", query, options.json)
  }),
).pipe(
  Command.withDescription("Show what a customer has of a unit now"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright credits balance --customer cus_… --unit token",
      description: "Show what is available, held and owed",
    },
  ]),
)

const grant = Command.make(
  "grant",
  {
    ...account,
    kind: Flag.Literals("kind", ["paid", "promotional", "plan"]).pipe(
      Flag.withDescription("Where they come from: the customer bought them, or they are a present."),
    ),
    amount: Flag.Int("amount").pipe(
      Flag.withDescription("How many, in the smallest unit: cents of EUR, or what you count."),
    ),
    scope: Flag.String("scope").pipe(
      Flag.withDescription(
        "The key of a charge or a feature that they pay for. Can be repeated. Default: anything.",
      ),
      Flag.between(0, MAX_SCOPE_KEYS),
    ),
    priority: Api.optionalInt("priority", "0 to 100. Grants of a lower number are used first. Default: 50."),
    effective_at: Api.optional(
      "effective-at",
      "When they begin, such as 2026-12-01T00:00:00Z. Default: now.",
    ),
    expires_at: Api.optional("expires-at", "When they end. Default: never."),
    idempotency_key: Api.optional("idempotency-key", "The same again with a key grants nothing."),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { customer: customer_id, json, scope, url: _, ...fields } = options
    const scoped = scope.length === 0 ? {} : { scope }
    yield* Api.send("/credit_grants", { customer_id, ...fields, ...scoped }, json)
  }),
).pipe(
  Command.withDescription("Grant credits to a customer"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command:
        "billwright credits grant --customer cus_… --unit token --kind promotional --amount 5000 --expires-at 2027-01-01T00:00:00Z",
      description: "Give 5,000 tokens that end with the year",
    },
  ]),
)

export const credits = Command.make("credits").pipe(
  Command.withDescription("Show and grant customers' credits"),
  Command.withSubcommands([
    balance,
    grant,
    Api.lister(
      grantKind,
      ["id", "customer_id", "unit", "kind", "status", "amount", "available", "held", "scope", "expires_at"],
      filters("grants"),
      "grants",
    ),
    Api.getter(grantKind, "get"),
    Api.action(grantKind, "/void", {
      name: "void",
      description: "Take back what is left of a grant. What open holds keep of it stays held",
      warning: "take back what is left of the grant for good",
    }),
    Api.lister(
      entryKind,
      [
        "id",
        "at",
        "customer_id",
        "unit",
        "kind",
        "purpose",
        "available",
        "scoped",
        "held",
        "debt",
        "grant_id",
      ],
      {
        ...filters("entries"),
        grant_id: Api.optional("grant", "Only entries of the grant with this id. Default: all."),
      },
      "entries",
    ),
    Api.lister(
      holdKind,
      ["id", "customer_id", "unit", "status", "amount", "committed", "purpose", "expires_at", "settled_at"],
      filters("holds"),
      "holds",
    ),
    Api.getter(holdKind, "hold"),
    Api.action(holdKind, "/release", {
      name: "release",
      description: "Give a hold back whose work never came to its end",
      warning: "give the hold back for good",
    }),
  ]),
)
