/**
 * `billwright bill`: does what is due on subscriptions and invoices, while servers run.
 */
import { Billing, BillingRuns, type DueCounts, type Pace, PACES, type RunReport } from "@billwright/core"
import { Console, Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as CreditUnits from "./CreditUnits.ts"
import * as InvoiceOptions from "./InvoiceOptions.ts"
import * as Moment from "./Moment.ts"
import * as PaymentProviders from "./PaymentProviders.ts"
import * as Progress from "./Progress.ts"
import * as ProofKeys from "./ProofKeys.ts"
import * as Store from "./Store.ts"
import { json } from "./TenantFlags.ts"

/** Something could not be billed. What was done is already printed. */
export class BillingFailed extends Data.TaggedError("BillingFailed")<{ readonly message: string }> {}

const MAX_LIMIT = 1_000_000

const until = Flag.String("until").pipe(
  Flag.withDescription(
    `Only what is due at this instant or before it: ${Moment.FORMS}. With --dry-run also in the future. Default: now.`,
  ),
  Flag.optional,
)

const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withDescription(
    "Change nothing, and count what is due. Doing it makes more due, such as the next period: that is not counted.",
  ),
  Flag.withDefault(false),
)

const limit = Flag.Int("limit").pipe(
  Flag.withDescription("The most subscriptions and invoices to work on. Default: until nothing is due."),
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_LIMIT }))),
  Flag.optional,
)

const pace = Flag.Literals("pace", PACES).pipe(
  Flag.withDescription(
    "full: as fast as it can. background: with pauses, as servers do, so that other work hardly waits.",
  ),
  Flag.withDefault<Pace>("full"),
)

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`

const done = ({ failed, invoices, subscriptions }: RunReport): string =>
  `moved ${counted(subscriptions, "subscription")} on, finalized ${counted(invoices, "invoice")}, ${failed.toLocaleString("en-US")} failed`

const instantOf = Effect.fnUntraced(function* (text: Option.Option<string>) {
  if (Option.isNone(text)) return undefined
  return yield* Moment.instant("until", yield* Moment.instantOf("until", text.value))
})

const count = Effect.fnUntraced(function* (end: DateTime.Utc | undefined, asJson: boolean) {
  const instant = end ?? (yield* DateTime.now)
  const counts = yield* (yield* BillingRuns).countDue(instant)
  yield* Console.log(asJson ? countsJson(instant, counts) : countsText(instant, counts))
})

const countsText = (instant: DateTime.Utc, { invoices, setAside, subscriptions }: DueCounts): string =>
  `Due by ${DateTime.formatIso(instant)}: ${counted(subscriptions, "subscription")} and ${counted(invoices, "draft invoice")}. ` +
  `${setAside.toLocaleString("en-US")} more are set aside, because they failed again and again.`

const countsJson = (instant: DateTime.Utc, { invoices, setAside, subscriptions }: DueCounts): string =>
  JSON.stringify({
    dry_run: true,
    until: DateTime.formatIso(instant),
    subscriptions,
    invoices,
    set_aside: setAside,
  })

const work = Effect.fnUntraced(function* (
  end: DateTime.Utc | undefined,
  most: Option.Option<number>,
  pace: Pace,
  asJson: boolean,
) {
  const runs = yield* BillingRuns
  const input = {
    pace,
    ...(end === undefined ? {} : { until: end }),
    ...(Option.isSome(most) ? { limit: most.value } : {}),
  }
  const report = yield* runs.runDue(input, Progress.make(done))
  const { failed, hasMore, invoices, subscriptions } = report
  const more = hasMore ? " The limit is reached: more may be due." : ""
  yield* Console.log(
    asJson
      ? JSON.stringify({ dry_run: false, subscriptions, invoices, failed, has_more: hasMore })
      : `Done: ${done(report)}.${more}`,
  )
  if (failed === 0) return
  return yield* new BillingFailed({
    message: `${counted(failed, "run")} failed: the log above says why. They are tried again later`,
  })
})

export const bill = Command.make(
  "bill",
  {
    ...Store.databaseFlags,
    ...CreditUnits.flags,
    ...PaymentProviders.flags,
    ...InvoiceOptions.flags,
    until,
    dryRun,
    limit,
    pace,
    json,
  },
  Effect.fn(function* (options) {
    if (options.dryRun && Option.isSome(options.limit)) {
      return yield* new Store.Misconfigured({ message: "--limit and --dry-run can't be used together" })
    }
    const end = yield* instantOf(options.until)
    const running = options.dryRun
      ? count(end, options.json)
      : work(end, options.limit, options.pace, options.json)
    const { signer } = yield* ProofKeys.keys
    const payments = yield* PaymentProviders.billingOptions(options)
    const invoices = yield* InvoiceOptions.billingOptions(options)
    const services = Billing.layerWith({
      ...payments,
      ...invoices,
      credits: { units: options.creditUnits },
      ...(signer === undefined ? {} : { proofs: signer }),
    })
    yield* running.pipe(Effect.provide(services.pipe(Layer.provide(Store.layerBeside(options)))))
  }),
).pipe(
  Command.withDescription("Bill what is due now: move subscriptions on, and finalize invoices"),
  Command.withExamples([
    { command: "billwright bill --dry-run", description: "Count what is due" },
    { command: "billwright bill --limit 10000", description: "Bill at most that many" },
    {
      command: "billwright bill --until 2026-12-01T00:00:00Z",
      description: "Bill what was due by the end of November",
    },
  ]),
)
