/**
 * `billwright coupons`: coupons, and who redeemed them, over the API of a running server.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"

const kind: Api.Kind = { noun: "a coupon", nouns: "coupons", path: "/coupons", prefix: "cpn" }
const redemptionKind: Api.Kind = {
  noun: "a redemption",
  nouns: "redemptions of coupons",
  path: "/redemptions",
  prefix: "red",
}
/** Most plans or charges of one call. */
const MAX_KEYS = 100

const keys = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description} Can be repeated. Default: all.`),
    Flag.between(0, MAX_KEYS),
  )

const create = Command.make(
  "create",
  {
    code: Flag.String("code").pipe(Flag.withDescription("What customers type: 3 to 40 capitals and digits.")),
    name: Flag.String("name").pipe(Flag.withDescription("What invoices call it.")),
    percent: Api.optional("percent", "The percentage that it takes off."),
    amount: Api.pairs("amount", "Or a fixed amount, as EUR=5.00."),
    duration: Flag.Literals("duration", ["once", "periods", "forever"]).pipe(
      Flag.withDescription("How long it applies."),
    ),
    periods: Api.optionalInt("periods", "With the duration periods: how many."),
    plans: keys("plan", "The key of a plan whose lines it covers."),
    charges: keys("charge", "The key of a charge whose lines it covers."),
    carry: Flag.Boolean("carry").pipe(
      Flag.withDescription("Keep what a period leaves of a fixed amount."),
      Flag.withDefault(false),
    ),
    max_redemptions: Api.optionalInt("max-redemptions", "How often it can be redeemed. Default: no limit."),
    max_redemptions_per_customer: Api.optionalInt(
      "max-redemptions-per-customer",
      "How often one customer can redeem it. Default: 100.",
    ),
    redeem_from: Api.optional("redeem-from", "The instant from which it can be redeemed."),
    redeem_before: Api.optional("redeem-before", "The instant from which it can't be redeemed any more."),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { carry, charges, json, plans, url: _, ...fields } = options
    const body = {
      ...fields,
      carry: carry ? true : undefined,
      charges: charges.length === 0 ? undefined : charges,
      plans: plans.length === 0 ? undefined : plans,
    }
    yield* Api.send("/coupons", body, json)
  }),
).pipe(
  Command.withDescription("Create a coupon"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright coupons create --code SPRING --name Spring --percent 20 --duration once",
      description: "A fifth off one period",
    },
  ]),
)

const redeem = Command.make(
  "redeem",
  {
    coupon: Argument.String("coupon").pipe(Argument.withDescription("The code or the id of a coupon.")),
    subscription: Flag.String("subscription").pipe(Flag.withDescription("Whose invoices it lowers: sub_…")),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const body = { coupon: options.coupon, subscription_id: options.subscription }
    yield* Api.send("/redemptions", body, options.json)
  }),
).pipe(
  Command.withDescription("Redeem a coupon for a subscription"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const coupons = Command.make("coupons").pipe(
  Command.withDescription("Create, redeem and archive coupons"),
  Command.withSubcommands([
    create,
    Api.getter(kind),
    Api.lister(kind, ["id", "code", "name", "percent", "duration", "times_redeemed", "archived_at"], {
      code: Api.optional("code", "Only the coupon with this code. Default: all."),
    }),
    Api.remover(kind, "archived", {
      name: "archive",
      description: "Archive a coupon: it can't be redeemed any more",
      warning: "archive the coupon for good",
    }),
    redeem,
    Api.lister(
      redemptionKind,
      ["id", "coupon", "customer_id", "subscription_id", "ended_at"],
      {
        coupon_id: Api.optional("coupon", "Only redemptions of the coupon with this id. Default: all."),
        customer_id: Api.optional("customer", "Only redemptions by this customer. Default: all."),
        subscription_id: Api.optional("subscription", "Only coupons of this subscription. Default: all."),
      },
      "redemptions",
    ),
    Api.remover(redemptionKind, "ended", {
      name: "end",
      description: "End a redemption: the coupon lowers no invoice that is made from then on",
    }),
  ]),
)
