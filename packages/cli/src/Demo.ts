/**
 * `billwright demo`: fills an empty store with a company that does not exist, for a first look, screenshots and tests.
 */
import { type Billing, type StorageError, Tenant } from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { Clock, Console, DateTime, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { requireEmpty } from "./demo/Emptiness.ts"
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

/**
 * Nobody else may bill meanwhile, so it needs a Postgres of its own. A year that was interrupted is thrown away: so its
 * Postgres need not wait for the disk at each commit. When it stops, it has written everything. The statements are few and
 * their tables small: planning them anew each time, or compiling plans, would take a fifth of the time.
 */
const SETTINGS = { synchronous_commit: "off", plan_cache_mode: "force_generic_plan", jit: "off" }

/** Runs an effect on the store of the options. One that is in use is refused before it is migrated, and stays as it is. */
const onEmpty = <A>(
  options: Store.DatabaseOptions,
  effect: Effect.Effect<A, StorageError, Billing.Storage>,
): Effect.Effect<A, Store.StoreFailure> =>
  Effect.andThen(
    requireEmpty(options.schema),
    Effect.provide(effect, Storage.layer({ schema: options.schema })),
  ).pipe(
    Effect.provide(Store.layerClient({ ...options, isShared: false, settings: SETTINGS })),
    Effect.catchTag("StorageError", (error) => Effect.fail(Store.explainStorage(error))),
  )

export const demo = Command.make(
  "demo",
  { ...Store.databaseFlags, until },
  Effect.fn(function* (options) {
    const end = yield* endOf(options.until)
    const [started, clock] = [yield* Clock.currentTimeMillis, yield* Clock.Clock]
    // The year has a clock of its own, and progress is about this one.
    const tell = Effect.suspend(() => {
      const progress = Progress.make(sentence)
      return Year.tell(end, TENANT, (told) => Effect.provideService(progress(told), Clock.Clock, clock))
    })
    const told = yield* onEmpty(options, tell)
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
