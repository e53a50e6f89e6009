import { PostgresClient, Storage } from "@billwright/postgres"
import { Layer } from "effect"

/** The database of DATABASE_URL. An app with its own `SqlClient` provides that instead. */
export const storage = Storage.layer().pipe(Layer.provide(PostgresClient.layerConfig))
