import { Storage } from "@billwright/postgres"
import { StorageContract, StorageModel } from "@billwright/testing"
import { Layer } from "effect"
import * as TestDatabase from "./TestDatabase.ts"

const options = { pause: "20 millis", startTimeout: "30 seconds", timeoutMillis: 30_000 } as const

const storage = Storage.layer()

const ownClient = storage.pipe(Layer.provide(TestDatabase.layerClient()))

// A transaction for each value takes its time. `ConnectionsContract.test.ts` tries more of them.
StorageContract.suite("PostgreSQL", ownClient, { ...options, runs: 8 })
// The same commands as for memory: thousands of transactions one after another. On a busy machine they take longer than
// the limit of other tests. `StorageModel.test.ts` has other commands in each run.
StorageModel.suite("PostgreSQL, seed 1", ownClient, { ...options, runs: 10, seed: 1, timeoutMillis: 180_000 })
