import { Memory } from "@billwright/memory"
import { StorageModel } from "@billwright/testing"

StorageModel.suite("Memory", Memory.layer, { runs: 60, timeoutMillis: 60_000 })
// The same commands as for Postgres.
StorageModel.suite("Memory, seed 1", Memory.layer, { runs: 30, seed: 1, timeoutMillis: 60_000 })
