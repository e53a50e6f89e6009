import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * Postgres is killed while many callers use the credits of one account. Nobody gets more than there is, and nothing that was
 * answered is lost.
 */
import {
  Billing,
  CreditAudit,
  Credits,
  type CurrentTenant,
  Customers,
  Holds,
  StorageError,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schedule, Semaphore } from "effect"
import { Client } from "pg"
import { asTenant } from "./Tenants.ts"

const TIMEOUT = 120_000
const CALLERS = 64
const CALLS = 3
const AMOUNT = 3n
const GRANTS = [120n, 150n, 130n]
const GRANTED = 400n
/** A process of Postgres is killed whenever so many answers have come. All others end with it. */
const ANSWERS_BETWEEN_CRASHES = 40
const CRASHES = 3

const directory = Effect.acquireRelease(
  Effect.sync(() => {
    const made = mkdtempSync(join(tmpdir(), "billwright-credits-"))
    chmodSync(made, 0o711) // for root, whose Postgres runs as another user
    return made
  }),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true })),
)

/** A new connection, or undefined while Postgres recovers or ends this connection because of another crash. */
const connection = async (connectionString: string): Promise<{ client: Client; pid: number } | undefined> => {
  const client = new Client({ connectionString })
  client.on("error", () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid")
    return { client, pid: rows[0]!.pid }
  } catch {
    return undefined
  }
}

/** Kills the process of a connection of its own, which makes Postgres end all of them and recover. */
const crash = async (connectionString: string): Promise<void> => {
  let made: Awaited<ReturnType<typeof connection>>
  while (made === undefined) made = await connection(connectionString)
  const ended = new Promise((done) => made.client.once("end", done))
  process.kill(made.pid, "SIGKILL")
  await ended
}

/** Gives the id of what was used, or the tag of the error. */
type Asked = Effect.Effect<string, string, CurrentTenant>

/** Asks again, with the same key, until the outcome is known. */
const untilKnown = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, {
    while: (error) => error instanceof StorageError,
    schedule: Schedule.spaced("20 millis"),
  })

it.live(
  "64 callers of one account lose nothing and get no more than there is while Postgres is killed",
  () =>
    Effect.gen(function* () {
      const server = yield* EmbeddedPostgres.start({ directory: join(yield* directory, "data") })
      const services = Billing.layer.pipe(
        Layer.provideMerge(Storage.layer()),
        Layer.provide(PostgresClient.layer({ url: server.url, poolSize: 16 })),
      )
      yield* Effect.gen(function* () {
        const [credits, holds, { page }] = [yield* Credits, yield* Holds, yield* CreditAudit]
        const { id } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
        const account = { customerId: id, unit: "token" }
        for (const amount of GRANTS) yield* credits.grant({ ...account, kind: "paid", amount })

        let [answers, crashes] = [0, 0]
        const oneCrash = (yield* Semaphore.make(1)).withPermit
        const counted = Effect.suspend(() => {
          if (++answers % ANSWERS_BETWEEN_CRASHES !== 0 || crashes >= CRASHES) return Effect.void
          crashes++
          return oneCrash(Effect.promise(() => crash(Redacted.value(server.url))))
        })
        const consume = (idempotencyKey: string): Asked =>
          untilKnown(credits.consume({ ...account, amount: AMOUNT, idempotencyKey })).pipe(
            Effect.mapBoth({ onSuccess: (used) => used.id, onFailure: (error) => error._tag }),
          )
        const hold = (idempotencyKey: string): Asked =>
          untilKnown(holds.reserve({ ...account, amount: AMOUNT, idempotencyKey })).pipe(
            Effect.flatMap((held) => untilKnown(holds.commit(held.id))),
            Effect.mapBoth({ onSuccess: (used) => used.id, onFailure: (error) => error._tag }),
          )
        const results = yield* Effect.forEach(
          Array.from({ length: CALLERS * CALLS }, (_, n) => n),
          (n) =>
            Effect.tap(Effect.result(n % 2 === 0 ? consume(`call ${n}`) : hold(`call ${n}`)), () => counted),
          { concurrency: CALLERS },
        )

        assert.strictEqual(crashes, CRASHES)
        const done = results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
        const tags = results.flatMap((result) => (Result.isFailure(result) ? [result.failure] : []))
        assert.deepStrictEqual(new Set(tags), new Set(["InsufficientCredits"]))
        assert.strictEqual(new Set(done).size, done.length)
        // There is more asked for than granted, so less than one call's amount is left.
        const left = GRANTED - AMOUNT * BigInt(done.length)
        assert.isTrue(left >= 0n && left < AMOUNT, `${left} are left`)
        const balance = yield* untilKnown(credits.balance(account))
        assert.deepInclude(balance, { available: left, held: 0n, debt: 0n })
        assert.deepInclude(yield* page(), { accounts: 1, discrepancies: [] })
      }).pipe(asTenant, Effect.provide(services))
    }).pipe(Effect.scoped),
  TIMEOUT,
)
