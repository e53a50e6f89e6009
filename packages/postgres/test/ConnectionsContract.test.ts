/**
 * The storage contract again, on the other two kinds of connections. `StorageContract.test.ts` has the first.
 */
import { Storage } from "@billwright/postgres"
import { StorageContract } from "@billwright/testing"
import { Layer } from "effect"
import * as TestDatabase from "./TestDatabase.ts"

const options = { pause: "20 millis", startTimeout: "30 seconds", timeoutMillis: 30_000 } as const

const storage = Storage.layer()

/** What a transaction-pooling proxy allows a client: no state that outlives a transaction. */
const pooledClient = storage.pipe(Layer.provide(TestDatabase.layerClient({ isPooled: true })))

const hostPool = storage.pipe(Layer.provide(TestDatabase.layerHostPool(TestDatabase.make)))

StorageContract.suite("PostgreSQL without session state", pooledClient, options)
StorageContract.suite("PostgreSQL on the host's pool", hostPool, options)
