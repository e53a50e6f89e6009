import { postgres } from "billwright/postgres"

/** Makes its schema `billwright` in the database, or updates it. An app with a `pg.Pool` passes that: `{ pool }`. */
export const store = postgres({ url: process.env["DATABASE_URL"] ?? "" })
