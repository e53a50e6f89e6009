import { PostgresClient, Storage } from "@billwright/postgres"
import { Layer } from "effect"

/** On the database that DATABASE_URL names. An app with a `SqlClient` of its own provides that instead. */
export const storage = Storage.layer().pipe(Layer.provide(PostgresClient.layerConfig))
