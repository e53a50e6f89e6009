/**
 * `billwright catalog diff --months`: what the plans of a file mean in money, from the database.
 */
import { Billing, type CurrencyCosts, CurrentTenant, PlanCosts, type PlanComparison } from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import { Console, DateTime, Effect, Layer, Option } from "effect"
import { Flag } from "effect/cli"
import * as PlanFile from "./PlanFile.ts"
import * as Progress from "./Progress.ts"
import { RiseTooLarge } from "./RiseTooLarge.ts"
import * as Store from "./Store.ts"
import { account, mode } from "./TenantFlags.ts"

/** A percentage, in millionths of the whole: 5% is 50,000. */
const PERCENT = /^(\d{1,4})(?:\.(\d{1,4}))?%$/
const MILLIONTHS_OF_PERCENT = 10_000n
const WHOLE = 1_000_000n

const shareOf = (text: string): bigint => {
  const [, whole, part = ""] = PERCENT.exec(text) ?? []
  if (whole === undefined) throw new TypeError("not a percentage")
  return BigInt(whole) * MILLIONTHS_OF_PERCENT + BigInt(part.padEnd(4, "0"))
}

export const flags = {
  months: Flag.Int("months").pipe(
    Flag.withDescription(
      "Rate the periods of all subscriptions that ended in so many months, 1 to 36, as they were and by the plans of the file. Needs --mode. Default: compare the plans alone.",
    ),
    Flag.optional,
  ),
  maxRise: Flag.String("max-rise").pipe(
    Flag.withDescription(
      "With --months: the exit code is 2 if the total of a currency rises by more than so many percent, such as 5%. Default: any rise is fine.",
    ),
    Flag.mapTryCatch(
      (text) => ({ text, share: shareOf(text) }),
      () => "expected a percentage with at most 4 decimals, such as 5%",
    ),
    Flag.optional,
  ),
  ...Store.databaseFlags,
  account,
  mode: Flag.optional(mode),
}

interface Options extends Store.DatabaseOptions {
  readonly file: string
  readonly account: typeof CurrentTenant.Service.accountId
  readonly mode: Option.Option<"live" | "test">
  readonly json: boolean
  readonly maxRise: Option.Option<{ readonly text: string; readonly share: bigint }>
}

const costsToJson = ({ after, before, largestRises, ...costs }: CurrencyCosts) => ({
  ...costs,
  before: String(before),
  after: String(after),
  largest_rises: largestRises.map((one) => ({
    customer_id: one.customerId,
    before: String(one.before),
    after: String(one.after),
  })),
})

const toJson = ({ currencies, from, isComplete, problems, to, ...rest }: PlanComparison): string =>
  JSON.stringify(
    {
      from: DateTime.formatIso(from),
      to: DateTime.formatIso(to),
      is_complete: isComplete,
      ...rest,
      currencies: currencies.map(costsToJson),
      problems: problems.map(({ customerId, problem, subscriptionId }) => ({
        subscription_id: subscriptionId,
        customer_id: customerId,
        problem,
      })),
    },
    undefined,
    2,
  )

const describe = ({
  after,
  before,
  currency,
  largestRises,
  ...costs
}: CurrencyCosts): ReadonlyArray<string> => [
  `${currency}: ${before} before, ${after} after, in the smallest unit. ` +
    `Of ${costs.customers} customers, ${costs.rises} pay more, ${costs.falls} less, and ${costs.unchanged} the same.`,
  ...largestRises.map((one) => `  ${one.customerId}: ${one.before} before, ${one.after} after`),
]

const toText = ({ currencies, from, plans, problems, to, unrated, ...counts }: PlanComparison): string =>
  [
    `Rated ${counts.periods} periods of ${counts.subscriptions} subscriptions that ended after ${DateTime.formatIso(from)} and by ${DateTime.formatIso(to)}. ` +
      (plans.length === 0 ? "The terms of no plan change." : `Plans that change: ${plans.join(", ")}.`),
    ...currencies.flatMap(describe),
    ...(unrated === 0 ? [] : [`${unrated} subscriptions could not be rated:`]),
    ...problems.map(({ problem, subscriptionId }) => `  ${subscriptionId}: ${problem}`),
  ].join("\n")

/** Whether the total rises by more than a share of it. From nothing, any rise is more. */
const exceeds = ({ after, before }: CurrencyCosts, share: bigint): boolean =>
  (after - before) * WHOLE > before * share

/** Prints the comparison. Fails if the limit is exceeded, or if something could not be rated and there is a limit. */
export const compare = Effect.fn(function* (options: Options, months: number) {
  if (Option.isNone(options.mode)) {
    return yield* new Store.Misconfigured({ message: "--months needs --mode, which is live or test" })
  }
  const { plans } = yield* PlanFile.read(options.file)
  const progress = Progress.make(
    ({ customers, subscriptions }: { readonly customers: number; readonly subscriptions: number }) =>
      `rated ${subscriptions} subscriptions of ${customers} customers`,
  )
  const services = Billing.layer.pipe(Layer.provide(Store.layerBeside(options)))
  const compared = yield* Effect.flatMap(PlanCosts, (costs) =>
    // They are checked there, with all problems at once.
    costs.compare({ plans: plans as ReadonlyArray<PlanDefinition>, months }, progress),
  ).pipe(
    Effect.provideService(CurrentTenant, { accountId: options.account, mode: options.mode.value }),
    Effect.provide(services),
  )
  yield* Console.log(options.json ? toJson(compared) : toText(compared))
  if (Option.isNone(options.maxRise)) return
  const { share, text } = options.maxRise.value
  const dearer = compared.currencies.filter((costs) => exceeds(costs, share)).map(({ currency }) => currency)
  if (dearer.length > 0) {
    return yield* new RiseTooLarge({
      message: `the total of ${dearer.join(", ")} rises by more than ${text}`,
    })
  }
  if (compared.unrated > 0 || !compared.isComplete) {
    return yield* new RiseTooLarge({
      message: `${compared.unrated} subscriptions could not be rated, so that nobody knows whether the total rises by more than ${text}`,
    })
  }
})
