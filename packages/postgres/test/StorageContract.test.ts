import { Host, Storage } from "@billwright/postgres"
import { StorageContract, StorageModel } from "@billwright/testing"
import { Effect, Layer } from "effect"
import { Pool } from "pg"
import * as TestDatabase from "./TestDatabase.ts"

const options = { pause: "20 millis", startTimeout: "30 seconds", timeoutMillis: 30_000 } as const

const storage = Storage.layer()

const ownClient = storage.pipe(Layer.provide(TestDatabase.layerClient()))

/** What a transaction-pooling proxy leaves a client: nothing that outlives a transaction. */
const pooledClient = storage.pipe(Layer.provide(TestDatabase.layerClient({ isPooled: true })))

const hostPool = storage.pipe(
  Layer.provide(
    Layer.unwrap(
      Effect.gen(function* () {
        const connectionString = yield* TestDatabase.make
        const pool = yield* Effect.acquireRelease(
          Effect.sync(() => new Pool({ connectionString, max: 10 })),
          (made) => Effect.promise(() => made.end()),
        )
        // The database is dropped while the server may still be closing the connections that were ended.
        pool.on("connect", (client) => client.on("error", () => {}))
        return Host.fromPool(pool)
      }),
    ),
  ),
)

StorageContract.suite("PostgreSQL", ownClient, options)
StorageContract.suite("PostgreSQL without session state", pooledClient, options)
StorageContract.suite("PostgreSQL on the host's pool", hostPool, options)
StorageModel.suite("PostgreSQL", ownClient, options)
