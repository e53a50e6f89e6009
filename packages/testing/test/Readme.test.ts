import { Memory } from "@billwright/memory"
import { StorageContract, StorageModel } from "@billwright/testing"

// Replace Memory's layer with your adapter's.
const storage = Memory.layer

StorageContract.suite("My storage", storage, { pause: "5 millis" })
StorageModel.suite("My storage", storage, { runs: 50, seed: 20_260_310 })
