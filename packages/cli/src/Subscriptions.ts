/**
 * `billwright subscriptions`, over the API of a running server.
 */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"

const kind: Api.Kind = {
  noun: "a subscription",
  nouns: "subscriptions",
  path: "/subscriptions",
  prefix: "sub",
}

const version = Api.optionalInt("plan-version", "The number of a version of the plan. Default: the newest.")
const quantities = Api.pairs("quantity", "A quantity of the plan, as seats=5.")
const credit = Api.optional("credit", "What was charged for unused time: prorate or none. Default: prorate.")

const create = Command.make(
  "create",
  {
    customer: Flag.String("customer").pipe(Flag.withDescription("The customer: cus_…")),
    plan: Flag.String("plan").pipe(Flag.withDescription("The key of a plan.")),
    version,
    currency: Api.optional("currency", "A currency of the plan. Default: its only one."),
    quantities,
    start_at: Api.optional("start-at", "When it starts, such as 2026-12-01T00:00:00Z. Default: now."),
    anchor: Api.optional(
      "anchor",
      "The local date of the boundaries, such as 2026-12-01. Default: the start.",
    ),
    timezone: Api.optional("timezone", "An IANA time zone. Default: that of the customer, or UTC."),
    trialDays: Api.optionalInt("trial-days", "The length of a trial; 0 for none. Default: that of the plan."),
    coupon: Api.optional("coupon", "The code or the id of a coupon."),
    invoice_group: Api.optional("invoice-group", "Subscriptions of the same group share invoices."),
    metadata: Api.pairs("metadata", "Your own metadata, as key=value."),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { customer: customer_id, json, trialDays, url: _, ...fields } = options
    const trial = Option.map(trialDays, (days) => (days === 0 ? null : { days }))
    yield* Api.send("/subscriptions", { customer_id, ...fields, trial }, json)
  }),
).pipe(
  Command.withDescription("Subscribe a customer to a plan"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright subscriptions create --customer cus_… --plan pro --quantity seats=5",
      description: "Subscribe a customer with 5 seats",
    },
  ]),
)

/** A command of a subscription with flags for its fields. */
const change = Command.make(
  "change",
  {
    id: Api.idOf(kind),
    plan: Api.optional("plan", "The key of another plan."),
    version,
    quantities,
    at: Api.optional("at", "now, period_end or an instant. A change of plan needs it."),
    bill: Api.optional("bill", "now, or next_invoice. Default: now."),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { id, json, url: _, ...fields } = options
    yield* Api.send(Api.pathOf(kind, id, "/change"), fields, json)
  }),
).pipe(
  Command.withDescription("Move a subscription to another plan, or change its quantities"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const cancel = Command.make(
  "cancel",
  {
    id: Api.idOf(kind),
    at: Flag.String("at").pipe(Flag.withDescription("now, period_end or an instant.")),
    credit,
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { id, json, url: _, ...fields } = options
    yield* Api.send(Api.pathOf(kind, id, "/cancel"), fields, json)
  }),
).pipe(
  Command.withDescription("End a subscription"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const pause = Command.make(
  "pause",
  {
    id: Api.idOf(kind),
    resume_at: Api.optional("resume-at", "When it resumes by itself. Default: on demand."),
    credit,
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { id, json, url: _, ...fields } = options
    yield* Api.send(Api.pathOf(kind, id, "/pause"), fields, json)
  }),
).pipe(
  Command.withDescription("Pause a subscription: nothing is charged until it resumes"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const resume = Command.make(
  "resume",
  {
    id: Api.idOf(kind),
    anchor: Api.optional("anchor", "keep: the boundaries of before. now: new ones. Default: keep."),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { id, json, url: _, ...fields } = options
    yield* Api.send(Api.pathOf(kind, id, "/resume"), fields, json)
  }),
).pipe(
  Command.withDescription("End a pause now"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const reconcile = Command.make(
  "reconcile",
  { id: Api.idOf(kind), ...Api.common },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const answer = yield* api.post(Api.pathOf(kind, options.id, "/reconcile"), Api.WithInvoice, "{}")
    yield* Api.showInvoice(answer, "Nothing differs.", options.json)
  }),
).pipe(
  Command.withDescription("Bill what late usage has changed, in a draft"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const subscriptions = Command.make("subscriptions").pipe(
  Command.withDescription("Create, show, change, pause, reconcile and end subscriptions"),
  Command.withSubcommands([
    create,
    Api.getter(kind),
    Api.lister(kind, ["id", "phase", "customer_id", "current_period_end", "ends_at"], {
      customer_id: Api.optional("customer", "Only subscriptions of this customer. Default: all."),
      phase: Api.optional("phase", "scheduled, trialing, active, paused or ended. Default: all."),
      invoice_group: Api.optional("invoice-group", "Only those of this invoice group. Default: all."),
      plan: Api.optional("plan", "Only those that have the plan with this key now. Default: all."),
      version: Api.optional("plan-version", "Only those that have this version of their plan. Default: all."),
      failure: Api.optional(
        "failure",
        "Only those whose last billing run failed: any, or set_aside. Default: all.",
      ),
    }),
    change,
    cancel,
    Api.action(kind, "/uncancel", {
      name: "uncancel",
      description: "Take a cancellation back before it has taken effect",
    }),
    pause,
    resume,
    reconcile,
  ]),
)
