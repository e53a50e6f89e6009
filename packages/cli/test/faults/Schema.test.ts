/**
 * A schema that is newer than the processes, and a connection pooler in front of Postgres: rows 29 and 30 of the fault
 * matrix.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"
import { checkAll, holdsAll } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { Pooler } from "./Pooler.ts"
import { Withstanding } from "./Withstand.ts"
import { World } from "./World.ts"

/** Fewer connections than the processes open. */
const POOLED_CONNECTIONS = 2

const world = new World()
const { postgres, receiver } = world
const clients = new Withstanding(world)

beforeAll(async () => {
  await world.start()
  await clients.start()
}, TIMEOUT)
afterAll(async () => {
  assert.deepStrictEqual(await world.stop(), [0])
}, TIMEOUT)

const DISPATCH = ["serve", "--dispatch-only", "--store", "postgres"]

describe("behind a transaction-pooling proxy", () => {
  it("servers and workers work with fewer connections to Postgres than they open", ofRows(30), async () => {
    const pooler = new Pooler(postgres.directUrl, POOLED_CONNECTIONS)
    await pooler.start()
    const env = { DATABASE_URL: pooler.url, DATABASE_POOLED: "true" }
    const server = await world.server(["--no-dispatch"], env)
    const worker = await world.worker(undefined, env)
    await clients.withstandFor(10, { fail: async () => async () => {}, servers: () => [server.url] })
    assert.isAbove(pooler.clients, POOLED_CONNECTIONS)
    assert.isAbove(pooler.lent, pooler.clients)
    assert.strictEqual(await worker.stop(), 0)
    assert.strictEqual(await server.stop(), 0)
    pooler.stop()
  })

  it("a server without DATABASE_POOLED says at its start what is wrong", ofRows(30), async () => {
    const pooler = new Pooler(postgres.directUrl, POOLED_CONNECTIONS)
    await pooler.start()
    const env = { ...world.env, DATABASE_URL: pooler.url, DATABASE_POOLED: "false" }
    const { code, stderr } = await Cli.run(["serve", "--port", "0", "--store", "postgres"], { env })
    assert.strictEqual(code, 1)
    assert.match(stderr, /DATABASE_POOLED/)
    assert.match(stderr, /unsupported startup parameter/)
    pooler.stop()
  })
})

describe("on the schema of a later version", () => {
  it(
    "workers of this version keep running, and can start, if the later version only added things",
    ofRows(29),
    async () => {
      const target = await world.target("/tomorrow")
      const [last] = await postgres.query("select max(id)::text as id from billwright.schema_migrations")
      const tomorrow = Number(last!["id"]) + 1
      const before = await world.worker()
      const first = await world.tenant.publish()
      await postgres.query(
        "begin",
        "alter table billwright.webhook_pending add column tomorrow text",
        "alter table billwright.webhook_finished add column tomorrow text",
        "alter table billwright.usage_records add column tomorrow text default 'x'",
        `insert into billwright.schema_migrations (id, name, min_reader) values (${tomorrow}, 'tomorrow', ${tomorrow - 1})`,
        // Its functions do the same with another text.
        "comment on function billwright.claim_deliveries is 'of tomorrow'",
        "update billwright.schema_functions set digest = 'of tomorrow', release = '999.0.0'",
        "commit",
      )
      const second = await world.tenant.publish()
      await receiver.next(target.path, 2)
      assert.strictEqual(await before.stop(), 0)
      const after = await world.worker()
      const third = await world.tenant.publish()
      await world.drain()
      await checkAll(world, target, [first, second, third])
      await holdsAll(world)
      const functions = await postgres.query(
        "select digest, release from billwright.schema_functions group by digest, release",
      )
      assert.deepStrictEqual(functions, [{ digest: "of tomorrow", release: "999.0.0" }])

      // A migration that this version can't read prevents its start, with the reason.
      await postgres.query(
        `insert into billwright.schema_migrations (id, name, min_reader) values (${tomorrow + 1}, 'breaks', ${tomorrow + 1})`,
      )
      const refused = await Cli.run(DISPATCH, { env: world.env })
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stderr, /schema/)
      assert.strictEqual(await after.stop(), 0)
      await world.retire(target)
    },
  )
})
