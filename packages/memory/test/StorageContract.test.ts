import { Memory } from "@billwright/memory"
import { StorageContract } from "@billwright/testing"
import { runs } from "./property.ts"

StorageContract.suite("Memory", Memory.layer, { runs: runs(100) })
