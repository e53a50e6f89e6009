import { postgres } from "billwright/postgres"

/** Creates or updates its schema `billwright` in the database. An app with a `pg.Pool` passes that: `{ pool }`. */
export const store = postgres({ url: process.env["DATABASE_URL"] ?? "" })
