/**
 * `billwright token-usages`: tokens that customers used, over the API of a running server.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"

const kind: Api.Kind = {
  noun: "a token usage",
  nouns: "token usage",
  path: "/token_usages",
  prefix: "tku",
}

const waive = Command.make(
  "waive",
  {
    id: Api.idOf(kind),
    by: Flag.String("by").pipe(Flag.withDescription("Who decided it: a name or an id of yours.")),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why it is not charged.")),
    ...Api.common,
  },
  Effect.fn(function* ({ by, id, json, reason }) {
    yield* Api.send(Api.pathOf(kind, id, "/waive"), { by, reason }, json)
  }),
).pipe(
  Command.withDescription("Decide that token usage without a price is never charged"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: 'billwright token-usages waive tku_… --by ada@example.com --reason "The model was a test"',
      description: "Say who gives it away, and why",
    },
  ]),
)

export const tokenUsages = Command.make("token-usages").pipe(
  Command.withDescription("Show tokens that customers used, and rate or waive what has no price"),
  Command.withSubcommands([
    Api.getter(kind),
    Api.lister(
      kind,
      ["id", "created_at", "customer_id", "status", "rate_card", "version", "model", "unit", "amount"],
      {
        customer_id: Api.optional("customer", "Only token usage of this customer. Default: all."),
        hold_id: Api.optional(
          "hold",
          "Only the token usage that this hold was committed with. Default: all.",
        ),
        status: Api.optional("status", "rated, unrated or waived. Default: all."),
        model: Api.optional("model", "Only token usage of this model. Default: all."),
      },
    ),
    Api.action(kind, "/rate", {
      name: "rate",
      description: "Charge token usage by the rate card that is in force now. It is charged once",
    }),
    waive,
  ]),
)
