import { Memory } from "@billwright/memory"
import { StorageModel } from "@billwright/testing"

StorageModel.suite("Memory", Memory.layer, { runs: 100 })
// The commands that are done to Postgres, too.
StorageModel.suite("Memory, seed 1", Memory.layer, { runs: 30, seed: 1 })
