/**
 * Random commands, other ones in each run, on Postgres and on the reference. `StorageContract.test.ts` has the same
 * commands in each run.
 */
import { Storage } from "@billwright/postgres"
import { StorageModel } from "@billwright/testing"
import { Layer } from "effect"
import * as TestDatabase from "./TestDatabase.ts"

StorageModel.suite("PostgreSQL", Storage.layer().pipe(Layer.provide(TestDatabase.layerClient())), {
  pause: "20 millis",
  startTimeout: "30 seconds",
  // Thousands of transactions one after another. On a busy machine they take longer than the limit of other tests.
  timeoutMillis: 180_000,
})
