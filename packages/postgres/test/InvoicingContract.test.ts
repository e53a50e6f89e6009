import { Storage } from "@billwright/postgres"
import { InvoicingContract } from "@billwright/testing"
import { Layer } from "effect"
import * as TestDatabase from "./TestDatabase.ts"

InvoicingContract.suite("PostgreSQL", Storage.layer().pipe(Layer.provide(TestDatabase.layerClient())), {
  pause: "20 millis",
  startTimeout: "30 seconds",
  timeoutMillis: 120_000,
})
