/** Tests beyond the contract, about the file of this storage. */
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import {
  Collections,
  CurrentTenant,
  Customer,
  IdGenerator,
  StorageError,
  Tenant,
  Transactor,
} from "@billwright/core"
import { Sample } from "@billwright/testing"
import { createBilling } from "billwright"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import * as Sqlite from "../src/Sqlite.ts"

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const tenant: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "test" }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "billwright-sqlite-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it("keeps the data of a process that has ended", async () => {
  const run = async () =>
    (await promisify(execFile)(process.execPath, [MAIN, join(folder, "main.sqlite")])).stdout
  expect(await run()).toBe("Ada Lovelace: 5 calls in 1 records\n")
  expect(await run()).toBe("Ada Lovelace: 10 calls in 2 records\n")
})

it("says why it can't be opened", async () => {
  const opened = Effect.flip(Effect.provide(Transactor, Sqlite.layer(join(folder, "nowhere", "db.sqlite"))))
  const error = await Effect.runPromise(opened)
  expect(error).toBeInstanceOf(StorageError)
  expect(String(error.cause)).toContain("unable to open database file")
})

it("tells createBilling why it can't be opened, and what to do", async () => {
  const path = join(folder, "nowhere", "db.sqlite")
  const store = Sqlite.sqlite(path)
  expect(store.kind).toBe("sqlite")
  await expect(createBilling({ store, log: false })).rejects.toThrow(
    `billing can't start: SQLite can't open ${path} (unable to open database file): check the path and its permissions`,
  )
})

it("fails with a retryable error while another process writes", async () => {
  const path = join(folder, "two.sqlite")
  const insert = Effect.gen(function* () {
    const customer = yield* Sample.customer()
    return yield* (yield* Collections).of(Customer.customers).insert(customer)
  })
  const test = Effect.gen(function* () {
    const isIn = yield* Deferred.make<void>()
    const { atomically } = yield* Transactor
    const holder = yield* Effect.forkChild(
      atomically(
        insert.pipe(Effect.andThen(Deferred.succeed(isIn, undefined)), Effect.andThen(Effect.never)),
      ),
    )
    yield* Deferred.await(isIn)
    const error = yield* Effect.flip(Effect.provide(insert, Sqlite.layer(path)))
    expect(error).toMatchObject({ _tag: "StorageError", retryable: true })
    yield* Fiber.interrupt(holder)
    yield* Effect.provide(insert, Sqlite.layer(path))
  })
  await test.pipe(
    Effect.provide(Sqlite.layer(path)),
    Effect.provide(IdGenerator.layer),
    Effect.provideService(CurrentTenant, tenant),
    Effect.runPromise,
  )
})

it("refuses a fiber that continues in an ended transaction, and rolls back its open savepoint", async () => {
  const test = Effect.gen(function* () {
    const store = (yield* Collections).of(Customer.customers)
    const { atomically } = yield* Transactor
    const isIn = yield* Deferred.make<void>()
    const mayGoOn = yield* Deferred.make<void>()
    const [joined, open, late] = yield* Effect.all([Sample.customer(), Sample.customer(), Sample.customer()])
    const stray = atomically(
      Effect.gen(function* () {
        yield* store.insert(open)
        yield* Deferred.succeed(isIn, undefined)
        yield* Deferred.await(mayGoOn)
        yield* store.insert(late)
      }),
    )
    const fiber = yield* atomically(
      Effect.gen(function* () {
        yield* store.insert(joined)
        const forked = yield* Effect.forkDetach(stray)
        yield* Deferred.await(isIn)
        return forked
      }),
    )
    yield* Deferred.succeed(mayGoOn, undefined)
    const exit = yield* Fiber.await(fiber)
    expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain("this transaction has ended")
    const statuses = yield* Effect.forEach([joined, open, late], ({ id }) => store.status(id))
    expect(statuses).toEqual(["active", "unknown", "unknown"])
  })
  await test.pipe(
    Effect.provide(Sqlite.layer(":memory:")),
    Effect.provide(IdGenerator.layer),
    Effect.provideService(CurrentTenant, tenant),
    Effect.runPromise,
  )
})
