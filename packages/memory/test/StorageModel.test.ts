import { Memory } from "@billwright/memory"
import { StorageModel } from "@billwright/testing"

StorageModel.suite("Memory", Memory.layer, { runs: 100 })
