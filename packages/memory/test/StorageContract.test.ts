import { Memory } from "@billwright/memory"
import { StorageContract } from "@billwright/testing"

StorageContract.suite("Memory", Memory.layer)
