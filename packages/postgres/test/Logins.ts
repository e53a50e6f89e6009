/**
 * Schemas with roles, and logins that are members of one role each.
 */
import { randomBytes } from "node:crypto"
import { Migrations, PostgresClient } from "@billwright/postgres"
import { Effect, Redacted } from "effect"
import { Client } from "pg"
import { inject } from "vitest"
import { ROLE_KINDS, type RoleKind } from "../src/roles/RoleNames.ts"
import * as TestDatabase from "./TestDatabase.ts"

export interface Login {
  readonly url: string
  readonly schema: string
}

/** Roles belong to the whole server, so each test has a schema with a name of its own. */
export const newSchema = (): string => `billwright_${randomBytes(6).toString("hex")}`

/** Removes the roles of a schema when the scope closes, after the databases that were made in it. */
export const withoutRolesAfter = (schema: string, ...logins: ReadonlyArray<string>) =>
  Effect.addFinalizer(() =>
    Effect.promise(() =>
      TestDatabase.execute(
        inject("serverUrl"),
        ...[...ROLE_KINDS.map((kind) => `${schema}_${kind}`), ...logins].map(
          (role) => `drop role if exists ${role}`,
        ),
      ),
    ),
  )

const asLogin = (url: string, name: string): string => {
  const own = new URL(url)
  own.username = name
  own.password = name
  return own.href
}

/** A database without a schema. Its logins are removed with it. */
export const unmigrated = Effect.gen(function* () {
  const schema = newSchema()
  const logins = [...ROLE_KINDS, "deployer"].map((kind) => `${schema}_${kind}_login`)
  yield* withoutRolesAfter(schema, ...logins)
  const url = yield* TestDatabase.empty
  const make = (name: string, ...more: ReadonlyArray<string>) =>
    Effect.as(
      Effect.promise(() =>
        TestDatabase.execute(url, `create role ${name} login password '${name}'`, ...more),
      ),
      { url: asLogin(url, name), schema } satisfies Login,
    )
  const member = `${schema}_deployer_login`
  return {
    schema,
    superuser: { url, schema } satisfies Login,
    /** A login that is a member of a role. */
    login: (kind: RoleKind) =>
      make(`${schema}_${kind}_login`, `grant ${schema}_${kind} to ${schema}_${kind}_login`),
    /** A login that may make roles, and schemas in this database. */
    deployer: make(
      member,
      `alter role ${member} createrole`,
      `grant create on database ${new URL(url).pathname.slice(1)} to ${member}`,
    ),
  }
})

const withRoles = Effect.fnUntraced(function* (options: { readonly rowLevelSecurity?: boolean }) {
  const made = yield* unmigrated
  yield* Effect.provide(
    Migrations.run({ ...options, schema: made.schema, roles: true }),
    PostgresClient.layer({ url: Redacted.make(made.superuser.url) }),
  )
  return { ...made, owner: yield* made.login("owner") }
})

/** A database whose schema has roles, and a login of its owner. */
export const migrated = withRoles({})

/** The same with row-level security. */
export const secured = withRoles({ rowLevelSecurity: true })

const codeOf = (error: unknown): string | undefined => (error as { readonly code?: string }).code

/** The SQLSTATE that the first of some statements fails with that does. `undefined` if none does. */
export const refusal = (url: string, ...statements: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
      return undefined
    } catch (error) {
      return codeOf(error)
    } finally {
      await client.end()
    }
  })

/** The same for one statement, which is rolled back. */
export const tried = async (client: Client, statement: string): Promise<string | undefined> => {
  await client.query("begin")
  try {
    await client.query(statement)
    return undefined
  } catch (error) {
    return codeOf(error)
  } finally {
    await client.query("rollback")
  }
}
