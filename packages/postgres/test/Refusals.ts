/**
 * What Postgres refuses by itself, in plain SQL of the owner of the tables.
 */
import type { Client } from "pg"

/** What is tried, and the SQLSTATE of the refusal: `undefined` for what is allowed. */
export type Attempt = readonly [title: string, code: string | undefined, statements: ReadonlyArray<string>]

/** How Postgres refused something. */
export interface Refusal {
  readonly code?: string | undefined
  readonly constraint?: string | undefined
}

/** Tries statements in a transaction that is rolled back. Gives the refusal of one of them, or of their commit. */
export const refusalOf = async (
  client: Client,
  statements: ReadonlyArray<string>,
): Promise<Refusal | undefined> => {
  try {
    await client.query(["begin", ...statements, "set constraints all immediate", "rollback"].join(";\n"))
    return undefined
  } catch (error) {
    await client.query("rollback")
    return error as Refusal
  }
}

/** The attempts with the SQLSTATE that each really has. */
export const tried = async (
  client: Client,
  attempts: ReadonlyArray<Attempt>,
): Promise<ReadonlyArray<Attempt>> => {
  const found: Array<Attempt> = []
  for (const [title, , statements] of attempts)
    found.push([title, (await refusalOf(client, statements))?.code, statements])
  return found
}
