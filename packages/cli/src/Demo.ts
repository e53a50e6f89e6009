/**
 * `billwright demo`: fills an empty store with a company that does not exist, for a first look, screenshots and tests.
 */
import { Billing, BillingRuns, CurrentTenant, Customers, Tenant } from "@billwright/core"
import { Clock, Console, DateTime, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Year from "./demo/Year.ts"
import * as Moment from "./Moment.ts"
import * as Progress from "./Progress.ts"
import * as Store from "./Store.ts"

const TENANT: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "test" }

const until = Flag.String("until").pipe(
  Flag.withDescription(`The end of the year: ${Moment.FORMS}. Default: now.`),
  Flag.optional,
)

const sentence = ({ customers, day, records }: Year.Told): string =>
  `day ${day} of the year, ${customers} customers, ${records.toLocaleString("en-US")} usage records`

/** A demo takes what is due in the store for its own, so it needs one in which nothing else is. */
const requireEmpty = Effect.gen(function* () {
  const { data } = yield* (yield* Customers).list({ limit: 1 })
  const due = yield* (yield* BillingRuns).nextDueAt
  if (data.length === 0 && Option.isNone(due)) return
  return yield* new Store.Misconfigured({
    message:
      "the store has customers or something to bill already, and the demo needs an empty one: give a new directory by --data-dir, or a new schema by --schema",
  })
}).pipe(Effect.provideService(CurrentTenant, TENANT), Effect.provide(Billing.layer))

/** How to look at what was told: a server on the same store. */
const serveCommand = ({ dataDir, schema, store }: Store.DatabaseOptions): string =>
  [
    "billwright serve",
    store === "postgres" ? " --store postgres" : ` --data-dir ${dataDir}`,
    schema === Store.DEFAULT_SCHEMA ? "" : ` --schema ${schema}`,
  ].join("")

const endOf = Effect.fnUntraced(function* (text: Option.Option<string>) {
  if (Option.isNone(text)) return yield* DateTime.now
  return yield* Moment.instant("until", yield* Moment.instantOf("until", text.value))
})

export const demo = Command.make(
  "demo",
  { ...Store.databaseFlags, until },
  Effect.fn(function* (options) {
    const end = yield* endOf(options.until)
    const [started, clock] = [yield* Clock.currentTimeMillis, yield* Clock.Clock]
    const tell = Effect.gen(function* () {
      yield* requireEmpty
      // The year has a clock of its own, and progress is about this one.
      const progress = Progress.make(sentence)
      return yield* Year.tell(end, TENANT, (told) =>
        Effect.provideService(progress(told), Clock.Clock, clock),
      )
    })
    // Nobody else may bill meanwhile, so it needs a Postgres of its own. A year that was interrupted is thrown away: so
    // its Postgres need not wait for the disk at each commit. When it stops, it has written everything. The statements are
    // few and their tables small: planning them anew each time, or compiling plans, would take a fifth of the time.
    const settings = { synchronous_commit: "off", plan_cache_mode: "force_generic_plan", jit: "off" }
    const storage = Store.layer({ ...options, migrate: true, isShared: false, settings })
    const told = yield* Effect.provide(tell, storage)
    const seconds = ((yield* Clock.currentTimeMillis) - started) / 1_000
    yield* Console.log(`Done in ${seconds.toFixed(1)} s: ${sentence(told)}.`)
    yield* Console.log(`Everything is in test mode. Look at it: ${serveCommand(options)}`)
  }),
).pipe(
  Command.withDescription("Fill an empty store with a believable company and a year of its billing"),
  Command.withExamples([
    { command: "billwright demo", description: "Fill the directory .billwright" },
    {
      command: "billwright demo --data-dir /tmp/demo --until 2026-12-01T00:00:00Z",
      description: "Fill another one, with the same year each time",
    },
  ]),
)
