/**
 * Notifications of commits between processes: `LISTEN` and `NOTIFY`. Each process here is a storage with its own
 * client.
 */
import { type CurrentTenant, type EndpointStore, EventStore, IdGenerator } from "@billwright/core"
import { Host, PostgresClient, Storage, type StorageOptions } from "@billwright/postgres"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, Redacted, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { type Client, Pool } from "pg"
import * as Proxy from "./Proxy.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { newEndpoint, publish } from "./Webhooks.ts"

const ownClient = (url: string, options: Partial<PostgresClient.ClientOptions> = {}) =>
  PostgresClient.layer({ url: Redacted.make(url), ...options })

const process = (client: Layer.Layer<SqlClient.SqlClient, unknown>, options: StorageOptions = {}) =>
  Effect.map(
    Layer.build(IdGenerator.layer.pipe(Layer.provideMerge(Storage.layer(options)), Layer.provide(client))),
    (services) => ({
      run: <A, E>(
        effect: Effect.Effect<A, E, EndpointStore | EventStore | IdGenerator | CurrentTenant | Scope.Scope>,
      ) =>
        Effect.flatMap(Effect.scope, (scope) =>
          asTenant(effect).pipe(Effect.provide(Context.add(services, Scope.Scope, scope))),
        ),
    }),
  )

const committed = Effect.flatMap(EventStore, (store) => store.committed)

/** Publishes again and again until the signal comes, because the listener may have to connect first. */
const isSignalled = (
  awaiting: Effect.Effect<void>,
  publishing: Effect.Effect<unknown, unknown, Scope.Scope>,
  times: number,
) =>
  Effect.raceFirst(
    Effect.as(awaiting, true),
    Effect.as(Effect.repeat(Effect.delay(publishing, "50 millis"), { times }), false),
  )

/** Whether a process sent the notification, and not a transaction of others. */
const isOfProcess = (payload: string | undefined) =>
  /^billwright [0-9a-f-]{36}( (?:due|events)( .*)?)?$/.test(payload ?? "")

/** How often the loops of this file check, 50 ms apart. */
const LOOKS = 200

const LISTENERS = "from pg_stat_activity where datname = current_database() and query like 'LISTEN%'"

const listeners = (admin: Client) =>
  Effect.promise(async () => (await admin.query(`select pid ${LISTENERS}`)).rowCount)

const until = (admin: Client, count: number) =>
  Effect.repeat(Effect.delay(listeners(admin), "50 millis"), {
    until: (found) => found === count,
    times: LOOKS,
  })

describe("notifications of commits", () => {
  it.live("reach other processes, and take a connection only while somebody waits", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const [a, b] = [yield* process(ownClient(url)), yield* process(ownClient(url))]
      assert.strictEqual(yield* listeners(admin), 0)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const awaiting = yield* b.run(committed)
          assert.isTrue(yield* isSignalled(awaiting, a.run(publish()), LOOKS))
          yield* b.run(Effect.andThen(committed, committed))
          assert.strictEqual(yield* listeners(admin), 1)
        }),
      )
      assert.strictEqual(yield* until(admin, 0), 0)
    }).pipe(Effect.scoped),
  )

  it.live("reach only processes with the same schema", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const other = yield* process(ownClient(url), { schema: "metering" })
      const a = yield* process(ownClient(url))
      const awaiting = yield* other.run(committed)
      yield* until(yield* TestDatabase.administrator(url), 1)
      assert.isFalse(yield* isSignalled(awaiting, a.run(publish()), 10))
    }).pipe(Effect.scoped),
  )

  it.live("arrive again after the connection was lost", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const [a, b] = [yield* process(ownClient(url)), yield* process(ownClient(url))]
      const awaiting = yield* b.run(committed)
      assert.isTrue(yield* isSignalled(awaiting, a.run(publish()), LOOKS))
      yield* Effect.promise(() => admin.query(`select pg_terminate_backend(pid) ${LISTENERS}`))
      yield* Effect.andThen(until(admin, 0), until(admin, 1))
      assert.isTrue(yield* isSignalled(awaiting, a.run(publish()), LOOKS))
    }).pipe(Effect.scoped),
  )

  it.live("cause no failure when no connection is available, and arrive as soon as one is", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const proxy = yield* Proxy.make(url)
      const [a, b] = [yield* process(ownClient(url)), yield* process(ownClient(proxy.url))]
      proxy.isOpen = false
      const awaiting = yield* b.run(committed)
      assert.isFalse(yield* isSignalled(awaiting, a.run(publish()), 5))
      proxy.isOpen = true
      assert.isTrue(yield* isSignalled(awaiting, a.run(publish()), LOOKS))
    }).pipe(Effect.scoped),
  )

  it.live("are not listened for behind a proxy, on a host's pool, or when listening is off", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const pool = yield* Effect.acquireRelease(
        // Its idle connections may be closed when the database is dropped. The pool reports that by an event that
        // would end the process.
        Effect.sync(() => new Pool({ connectionString: url }).on("error", () => {})),
        (made) => Effect.promise(() => made.end()),
      )
      const silent = [
        yield* process(ownClient(url, { isPooled: true })),
        yield* process(Host.fromPool(pool)),
        yield* process(ownClient(url), { listen: false }),
      ]
      for (const { run } of silent) {
        const awaiting = yield* run(committed)
        // It still gets the signals of its own commits.
        yield* run(publish())
        yield* awaiting
      }
      assert.strictEqual(yield* listeners(admin), 0)
    }).pipe(Effect.scoped),
  )

  it.live("are combined for many commits soon after each other", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const admin = yield* TestDatabase.administrator(url)
      const a = yield* process(ownClient(url))
      const heard: Array<string | undefined> = []
      admin.on("notification", ({ payload }) => heard.push(payload))
      yield* Effect.promise(() => admin.query("listen billwright"))
      const [elapsed] = yield* Effect.timed(
        Effect.all(
          Array.from({ length: 300 }, () => a.run(publish())),
          { concurrency: 10 },
        ),
      )
      yield* Effect.repeat(Effect.sleep("50 millis"), { until: () => heard.length > 0, times: LOOKS })
      assert.isAtLeast(heard.length, 1)
      // The first is sent at once, the next after 5 ms: those within a transaction, and those after one.
      assert.isAtMost(heard.length, 2 * (Duration.toMillis(elapsed) / 5 + 2))
      assert.deepStrictEqual(heard.filter(isOfProcess), heard)
    }).pipe(Effect.scoped),
  )
})

/** What a client hears on the channel. */
const hearing = (client: Client) =>
  Effect.promise(async () => {
    const heard: Array<string | undefined> = []
    client.on("notification", ({ payload }) => heard.push(payload))
    await client.query("listen billwright")
    return heard
  })

/** A client whose own statement for notifications does nothing but to be counted. */
const withoutNotify = (url: string, onNotify: () => void) =>
  Layer.tap(ownClient(url), (services) =>
    Effect.sync(() =>
      Object.assign(Context.get(services, PgClient.PgClient), { notify: () => Effect.sync(onNotify) }),
    ),
  )

describe("a publication", () => {
  for (const [kind, fieldsOf] of [
    ["with a key", (n: number) => ({ idempotencyKey: `event ${n}` })],
    ["in a group", () => ({})],
  ] as const) {
    it.live(`${kind} notifies of its own commit, unless another one did shortly before`, () =>
      Effect.gen(function* () {
        const url = yield* TestDatabase.make
        const host = yield* TestDatabase.administrator(url)
        const heard = yield* hearing(yield* TestDatabase.administrator(url))
        let sent = 0
        const client = withoutNotify(url, () => {
          sent += 1
        })
        const a = yield* process(client)
        const awaiting = yield* a.run(committed)
        yield* a.run(publish(fieldsOf(0)))
        yield* awaiting // it wakes its own process, too
        yield* fence(host, heard)
        assert.deepStrictEqual([heard.map(isOfProcess), sent], [[true, false], 0])
        yield* a.run(Effect.forEach([1, 2, 3], (n) => publish(fieldsOf(n)), { discard: true }))
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => sent > 0, times: LOOKS })
        assert.isAtLeast(sent, 1, "what follows at once is notified of after its commit")
      }).pipe(Effect.scoped),
    )
  }

  it.live("that was made before notifies nobody", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const host = yield* TestDatabase.administrator(url)
      const [a, b] = [yield* process(ownClient(url)), yield* process(ownClient(url))]
      yield* a.run(publish({ idempotencyKey: "once" }))
      const heard = yield* hearing(yield* TestDatabase.administrator(url))
      const { outcome } = yield* b.run(publish({ idempotencyKey: "once" }))
      assert.strictEqual(outcome._tag, "Duplicate")
      yield* fence(host, heard)
      assert.deepStrictEqual(heard, ["end"])
    }).pipe(Effect.scoped),
  )
})

const PUBLISH = "select billwright.publish_event('default', 'test', 'invoice.paid', '{}')"

/** Everything that was notified before is heard after this. */
const fence = (host: Client, heard: ReadonlyArray<unknown>) =>
  Effect.andThen(
    Effect.promise(() => host.query("notify billwright, 'end'")),
    Effect.repeat(Effect.sleep("20 millis"), { until: () => heard.at(-1) === "end", times: LOOKS }),
  )

describe("in a host's own transaction", () => {
  it.live("publishing notifies other processes when it commits, once, and not when it rolls back", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const host = yield* TestDatabase.administrator(url)
      const heard = yield* hearing(yield* TestDatabase.administrator(url))
      const a = yield* process(withoutNotify(url, () => {}))
      const query = (text: string) => Effect.promise(() => host.query(text))
      const publishings = [
        query(PUBLISH),
        a.run(publish().pipe(Host.joining(host))),
        a.run(Effect.andThen(publish(), publish()).pipe(Host.joining(host))),
      ]
      // As if the 5 milliseconds were over in which only one transaction notifies, also if it rolls back.
      const pass = query("select setval('billwright.commit_notices', 1)")
      for (const publishing of publishings) {
        heard.length = 0
        yield* pass
        yield* query("begin")
        yield* publishing
        yield* query("rollback")
        yield* pass
        yield* query("begin")
        yield* publishing
        yield* query("commit")
        yield* fence(host, heard)
        assert.deepStrictEqual(heard, ["billwright transaction", "end"])
      }
    }).pipe(Effect.scoped),
  )

  it.live("many commits notify seldom, because commits that notify wait for each other", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      yield* process(ownClient(url))
      const host = yield* TestDatabase.administrator(url)
      const heard = yield* hearing(yield* TestDatabase.administrator(url))
      yield* Effect.promise(() => host.query("set synchronous_commit = off"))
      const [elapsed] = yield* Effect.timed(
        Effect.promise(() =>
          host.query(
            "do $$ begin for n in 1..5000 loop perform billwright.announce_commit(); commit; end loop; end $$",
          ),
        ),
      )
      yield* fence(host, heard)
      assert.isAtLeast(heard.length, 2)
      assert.isAtMost(heard.length, Duration.toMillis(elapsed) / 5 + 3)
    }).pipe(Effect.scoped),
  )

  it.live("its process looks again after the commit, also where it can't listen", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const host = yield* TestDatabase.administrator(url)
      const a = yield* process(ownClient(url, { isPooled: true }))
      const awaiting = yield* a.run(committed)
      yield* Effect.promise(() => host.query("begin"))
      yield* a.run(publish().pipe(Host.joining(host)))
      yield* awaiting
      yield* Effect.promise(() => host.query("commit"))
      // Nothing else signals any more.
      yield* awaiting
    }).pipe(Effect.scoped),
  )

  it.live("an event and its deliveries commit and roll back with the host's rows", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const host = yield* TestDatabase.administrator(url)
      const a = yield* process(ownClient(url))
      yield* a.run(newEndpoint())
      for (const end of ["commit", "rollback"] as const) {
        yield* Effect.promise(() => host.query("begin"))
        const { event } = yield* a.run(publish({ idempotencyKey: end }).pipe(Host.joining(host)))
        const find = a.run(Effect.flatMap(EventStore, (store) => store.find(event.id)))
        assert.isTrue(Option.isNone(yield* find), "it is invisible to others before the host commits")
        assert.isTrue(Option.isSome(yield* find.pipe(Host.joining(host))))
        yield* Effect.promise(() => host.query(end))
        assert.strictEqual(Option.isSome(yield* find), end === "commit")
      }
      const left = yield* Effect.promise(() =>
        host.query("select idempotency_key as key from billwright.events"),
      )
      assert.deepStrictEqual(left.rows, [{ key: "commit" }])
      const pending = yield* Effect.promise(() => host.query("select 1 from billwright.webhook_pending"))
      assert.strictEqual(pending.rowCount, 1)
    }).pipe(Effect.scoped),
  )
})
