/**
 * The errors of storage that a host logs contain no value of a row: no name, no e-mail address, no parameter.
 */
import { inspect } from "node:util"
import { Billing, Customers, StorageError } from "@billwright/core"
import { Host, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Pool } from "pg"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const NAME = "Ada Confidential"
const EMAIL = "ada@confidential.example"

const create = asTenant(
  Effect.flatMap(Customers, (customers) => customers.create({ name: NAME, email: EMAIL })),
)

/** How Postgres refuses a new customer. */
const refusals: Readonly<Record<string, readonly [statement: string, state: string, sentence: RegExp]>> = {
  "a constraint of the host": [
    "alter table billwright.customers add constraint no_ada check (name not like 'Ada%')",
    "23514",
    /violates check constraint "no_ada"/,
  ],
  "a unique index of the host": [
    `create table seen (email text constraint one_email unique);
insert into seen values ('${EMAIL}');
create function note() returns trigger language plpgsql as $$ begin insert into seen values (new.email); return new; end $$;
create trigger note before insert on billwright.customers for each row execute function note()`,
    "23505",
    /violates unique constraint "one_email"/,
  ],
  "a trigger of the host whose message contains the row": [
    `create function refuse() returns trigger language plpgsql as $$
begin raise exception 'refused: %', new using detail = new.email, hint = new.name; end $$;
create trigger refuse before insert on billwright.customers for each row execute function refuse()`,
    "P0001",
    /^the database refused the statement with SQLSTATE P0001$/,
  ],
  "a value that is not a number": [
    `create function refuse() returns trigger language plpgsql as $$
begin perform new.name::integer; return new; end $$;
create trigger refuse before insert on billwright.customers for each row execute function refuse()`,
    "22P02",
    /^the database refused the statement with SQLSTATE 22P02$/,
  ],
}

const check = (error: unknown, state: string, sentence: RegExp): void => {
  assert.instanceOf(error, StorageError)
  const cause = error.cause as Error & { readonly code: string }
  assert.strictEqual(cause.code, state)
  assert.match(cause.message, sentence)
  const told = [
    inspect(error, { depth: 20, showHidden: true }),
    Cause.pretty(Cause.fail(error)),
    String(error),
  ]
  for (const text of told) assert.notMatch(text, /confidential|Failing row|Key \(|insert into/i)
}

describe("an error contains no value of a row", () => {
  for (const [name, [statement, state, sentence]] of Object.entries(refusals)) {
    it.live(`with ${name}`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const storage = Billing.layer.pipe(Layer.provideMerge(Storage.layer()))
        yield* Effect.gen(function* () {
          for (const each of statement.split(/;\n/)) yield* sql.unsafe(each)
          check(yield* Effect.flip(create), state, sentence)
        }).pipe(Effect.provide(storage))
      }).pipe(Effect.provide(TestDatabase.layerClient()), Effect.scoped),
    )
  }

  it.live("with a driver that repeats parameters in its own error, in a host's transaction", () =>
    Effect.gen(function* () {
      const connectionString = yield* TestDatabase.make
      const pool = yield* Effect.acquireRelease(
        Effect.sync(() => new Pool({ connectionString, max: 2 })),
        (made) => Effect.promise(() => made.end()),
      )
      pool.on("connect", (client) => client.on("error", () => {}))
      const storage = Billing.layer.pipe(Layer.provide(Storage.layer()), Layer.provide(Host.fromPool(pool)))
      yield* Effect.gen(function* () {
        const [statement, state, sentence] = refusals["a constraint of the host"]!
        yield* Effect.promise(() => pool.query(statement))
        const client = yield* Effect.acquireRelease(
          Effect.promise(() => pool.connect()),
          (taken) => Effect.sync(() => taken.release()),
        )
        // An error like those of Drizzle.
        const repeating = {
          query: (text: string, values?: ReadonlyArray<unknown>) =>
            client.query(text, values === undefined ? [] : [...values]).catch((cause: unknown) => {
              throw Object.assign(new Error(`Failed query: ${text} params: ${String(values)}`, { cause }), {
                params: values,
              })
            }),
        }
        yield* Effect.promise(() => client.query("begin"))
        check(yield* Effect.flip(Host.joining(repeating)(create)), state, sentence)
        yield* Effect.promise(() => client.query("rollback"))
      }).pipe(Effect.provide(storage))
    }).pipe(Effect.scoped),
  )
})
