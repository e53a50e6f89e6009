/** The published contract for all storages. The test of your own adapter needs only these lines. */
import { StorageContract, StorageModel } from "@billwright/testing"
import * as Sqlite from "../src/Sqlite.ts"

StorageContract.suite("SQLite", Sqlite.layer(":memory:"))
StorageModel.suite("SQLite, the model", Sqlite.layer(":memory:"))
