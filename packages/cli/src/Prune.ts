/**
 * `billwright prune`: removes old data while servers run.
 */
import { Billing, type Pruned, Retention } from "@billwright/core"
import { Console, DateTime, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import * as Progress from "./Progress.ts"
import * as Store from "./Store.ts"
import { json } from "./TenantFlags.ts"

const AGE = /^(\d{1,6})([hd])$/
const UNIT_MILLIS = { h: 3_600_000, d: 86_400_000 } as const

const olderThan = Flag.String("older-than").pipe(
  Flag.withDescription("Remove data older than this: 90d, 12h. At least 1h."),
)

const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withDescription("Only count what would be removed."),
  Flag.withDefault(false),
)

const instantOf = Effect.fnUntraced(function* (age: string) {
  const [, amount, unit] = AGE.exec(age) ?? []
  if (amount === undefined) {
    return yield* new Store.Misconfigured({
      message: `--older-than must be a number of hours or days, such as 12h or 90d. It is ${age}`,
    })
  }
  const milliseconds = Number(amount) * UNIT_MILLIS[unit as keyof typeof UNIT_MILLIS]
  if (milliseconds < UNIT_MILLIS.h) {
    return yield* new Store.Misconfigured({ message: "--older-than must be at least 1h" })
  }
  return DateTime.subtract(yield* DateTime.now, { milliseconds })
})

const number = (count: number): string => count.toLocaleString("en-US")

const sentence = ({ answers, attempts, deliveries, events, hourlyCounts }: Pruned): string =>
  `${number(events)} events with ${number(deliveries)} deliveries and ${number(attempts)} attempts, ` +
  `${number(hourlyCounts)} hourly counts` +
  (answers === undefined ? "" : `, ${number(answers)} expired answers`)

const toJson = (before: DateTime.Utc, isDryRun: boolean, pruned: Pruned): string =>
  JSON.stringify({
    before: DateTime.formatIso(before),
    dry_run: isDryRun,
    events: pruned.events,
    deliveries: pruned.deliveries,
    attempts: pruned.attempts,
    hourly_counts: pruned.hourlyCounts,
    expired_answers: pruned.answers,
  })

export const prune = Command.make(
  "prune",
  { ...Store.databaseFlags, olderThan, dryRun, json },
  Effect.fn(function* (options) {
    const { dryRun: isDryRun } = options
    const before = yield* instantOf(options.olderThan)
    const pruned = yield* Effect.flatMap(Retention, (retention) =>
      retention.prune({ before, isDryRun, onProgress: Progress.make(sentence) }),
    ).pipe(Effect.provide(Billing.layer.pipe(Layer.provide(Store.layerBeside(options)))))
    if (options.json) return yield* Console.log(toJson(before, isDryRun, pruned))
    const verb = isDryRun ? "Would remove" : "Removed"
    yield* Console.log(`${verb} data older than ${DateTime.formatIso(before)}: ${sentence(pruned)}.`)
  }),
).pipe(
  Command.withDescription("Remove old events with their deliveries, in small steps, while servers run"),
  Command.withExamples([
    {
      command: "billwright prune --older-than 90d --dry-run",
      description: "Count what is older than 90 days",
    },
    { command: "billwright prune --older-than 90d", description: "Remove it" },
  ]),
)
