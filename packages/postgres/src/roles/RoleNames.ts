/**
 * The roles of a schema. They are groups: none of them can log in. Logins become members.
 */
import type { SchemaName } from "../SchemaName.ts"

/** What a role is for. */
export type RoleKind = "owner" | "app" | "reader" | "recorder"

export const ROLE_KINDS: ReadonlyArray<RoleKind> = ["owner", "app", "reader", "recorder"]

/** The names of the roles of a schema. */
export interface RoleNames {
  /** Owns everything in the schema, and migrates. API keys are issued by its members. */
  readonly owner: string
  /** What an application needs: it reads all, writes what it has to, and can't make API keys. */
  readonly app: string
  /** Reads what is billed, without API keys, secrets, headers of endpoints and stored answers. */
  readonly reader: string
  /** Calls `record_usage`, `consume_credits` and `commit_hold`, and can't do or read anything else. */
  readonly recorder: string
}

/** Longest name of a schema that has roles, in characters. Postgres cuts names off after 63. */
const MAX_SCHEMA_LENGTH = 63 - "_recorder".length

/**
 * The names: that of the schema, and what the role is for. Throws for a schema that can't have roles, because that is a
 * mistake in the program.
 */
export const roleNames = (schema: SchemaName): RoleNames => {
  const problem = problemOf(schema)
  if (problem !== undefined) throw new Error(problem)
  return {
    owner: `${schema}_owner`,
    app: `${schema}_app`,
    reader: `${schema}_reader`,
    recorder: `${schema}_recorder`,
  }
}

/** Why a schema can't have roles, in a sentence. `undefined` if it can. */
export const problemOf = (schema: SchemaName): string | undefined => {
  if (schema === "public")
    return "roles need a schema that holds nothing but Billwright's tables, and not public"
  if (schema.length <= MAX_SCHEMA_LENGTH) return undefined
  return `the name of a schema with roles may have ${MAX_SCHEMA_LENGTH} characters, and ${schema} has ${schema.length}`
}
