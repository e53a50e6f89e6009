import { Memory } from "@billwright/memory"
import { StorageModel } from "@billwright/testing"
import { runs } from "./property.ts"

StorageModel.suite("Memory", Memory.layer, { runs: runs(60), timeoutMillis: 60_000 })
// The same commands as for Postgres.
StorageModel.suite("Memory, seed 1", Memory.layer, { runs: 10, seed: 1, timeoutMillis: 60_000 })
