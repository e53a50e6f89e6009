import { Storage } from "@billwright/postgres"
import { StorageContract, StorageModel } from "@billwright/testing"
import { Layer } from "effect"
import * as TestDatabase from "./TestDatabase.ts"

const options = { pause: "20 millis", startTimeout: "30 seconds", timeoutMillis: 30_000 } as const

const storage = Storage.layer()

const ownClient = storage.pipe(Layer.provide(TestDatabase.layerClient()))

StorageContract.suite("PostgreSQL", ownClient, options)
/** Thousands of transactions one after another. On a busy machine they take longer than the limit of other tests. */
const patient = { ...options, timeoutMillis: 180_000 } as const
StorageModel.suite("PostgreSQL", ownClient, patient)
// The same commands as for memory.
StorageModel.suite("PostgreSQL, seed 1", ownClient, { ...patient, runs: 30, seed: 1 })
