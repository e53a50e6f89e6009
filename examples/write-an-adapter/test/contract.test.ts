/** The published contract: what every storage must do. A test of your own adapter is these lines. */
import { StorageContract, StorageModel } from "@billwright/testing"
import * as Sqlite from "../src/Sqlite.ts"

StorageContract.suite("SQLite", Sqlite.layer(":memory:"))
StorageModel.suite("SQLite, the model", Sqlite.layer(":memory:"))
