/**
 * Several servers on one Postgres, and clients that send the same requests to all of them: rows 28, 31 to 33 and 36 of
 * the fault matrix. A request that is sent to all servers at once counts once, and totals stay exact.
 */
import { Choice } from "@billwright/simulation"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"
import { holdsAll } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { Proxy } from "./Proxy.ts"
import { RecordedTenant } from "./RecordedTenant.ts"
import { Withstanding } from "./Withstand.ts"
import { World } from "./World.ts"

const PROCESSES = 4
const POSTS = 50
/** How often a batch is sent that gets 503. */
const SENDS = 5

// All start at the same time on an empty database.
const world = new World({ servers: PROCESSES })
const clients = new Withstanding(world)

beforeAll(async () => {
  await world.start()
  await clients.start()
}, TIMEOUT)

afterAll(async () => {
  assert.deepStrictEqual(
    await world.stop(),
    Array.from({ length: PROCESSES }, () => 0),
  )
}, TIMEOUT)

const tenantAt = (n: number): RecordedTenant =>
  new RecordedTenant(world.servers[n % PROCESSES]!.url, world.keys.test, world.journal, "test:default")

const createCustomer = async (name: string): Promise<string> =>
  String((await tenantAt(0).request("POST", "/customers", { name, email: "ada@example.com" }))["id"])

const summaryOf = async (customer: string): Promise<string> =>
  (await tenantAt(1).call("GET", `/usage?customer_id=${customer}`)).text

const each = <A>(count: number, make: (n: number) => Promise<A>): Promise<ReadonlyArray<A>> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

/** The number of answers with each status. */
const counted = (answers: ReadonlyArray<Cli.Answer>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, some]) => [status, some.length]),
  )

/** Posts with an Idempotency-Key, and repeats the request while another one with this key is running. */
const post = async (n: number, key: string, body: object): Promise<Cli.Answer> => {
  const url = world.servers[n % PROCESSES]!.url
  const answer = await Cli.call(url, world.keys.test, "POST", "/v1/customers", body, {
    "idempotency-key": key,
  })
  return answer.status === 409 ? post(n + 1, key, body) : answer
}

describe(`${PROCESSES} servers on one Postgres`, () => {
  it("migrate it once, and serve", ofRows(28), async () => {
    const migrations = await world.postgres.query("select id from billwright.schema_migrations order by id")
    assert.deepStrictEqual(
      migrations.map(({ id }) => Number(id)),
      migrations.map((_, index) => index + 1),
    )
    const keys = world.servers.filter((server) => server.keys.test !== "")
    assert.lengthOf(keys, 1, "one of them makes the first keys")
    for (const { url } of world.servers) {
      assert.strictEqual((await Cli.call(url, world.keys.test, "GET", "/readyz")).status, 200)
    }
    const target = await world.target("/migrated")
    const worker = await world.worker()
    await each(PROCESSES, (n) => tenantAt(n).publish())
    await world.drain()
    assert.lengthOf(world.receiver.received(target.path), PROCESSES)
    assert.strictEqual(await worker.stop(), 0)
    await world.retire(target)
    await holdsAll(world)
  })

  it("store one record for 50 identical concurrent posts", ofRows(31), async () => {
    const customer = await createCustomer("Ada")
    const record = { customer_id: customer, product_id: "api", quantity: 7, unit: "call" }
    const answers = await each(POSTS, (n) =>
      tenantAt(n).call("POST", "/usage", { ...record, idempotency_key: "the same" }),
    )
    assert.deepStrictEqual(counted(answers), { 200: POSTS - 1, 201: 1 })
    assert.strictEqual(new Set(answers.map(({ body }) => body["id"])).size, 1)
    assert.include(await summaryOf(customer), '"total_quantity":7,')
    await holdsAll(world)
  })

  it("create one customer for 50 posts with one Idempotency-Key", ofRows(31), async () => {
    const body = { name: "Grace", email: "grace@example.com" }
    world.damages("default Grace")
    const answers = await each(POSTS, (n) => post(n, "one-customer", body))
    assert.deepStrictEqual(counted(answers), { 201: POSTS })
    assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
    const found = await tenantAt(2).call("GET", "/customers?email=grace@example.com")
    assert.lengthOf(found.body["data"] as ReadonlyArray<unknown>, 1)
  })

  it(
    "accept one of two bodies with the same key, and answer the other with a conflict",
    ofRows(32),
    async () => {
      const customer = await createCustomer("Bob")
      const record = { customer_id: customer, product_id: "api", unit: "call", idempotency_key: "one of two" }
      const answers = await each(POSTS, (n) =>
        tenantAt(n).call("POST", "/usage", { ...record, quantity: (n >> 2) % 2 === 0 ? 3 : 5 }),
      )
      const winner = answers.find(({ status }) => status === 201)!
      const half = POSTS / 2
      // Of the 50 requests, those with the accepted body are duplicates, and the rest are conflicts.
      const { 200: duplicates = 0, 201: created, 409: conflicts = 0, ...rest } = counted(answers)
      assert.deepStrictEqual(rest, {})
      assert.strictEqual(created, 1)
      assert.approximately(conflicts, half, 1)
      assert.strictEqual(duplicates + conflicts, POSTS - 1)
      assert.include(await summaryOf(customer), `"total_quantity":${String(winner.body["quantity"])},`)

      const names = ["Alan", "Emmy"]
      for (const name of names) world.damages(`default ${name}`)
      const created2 = await each(POSTS, (n) =>
        post(n, "two-customers", { name: names[n % 2], email: "two@example.com" }),
      )
      const won = created2.filter(({ status }) => status === 201)
      assert.strictEqual(new Set(won.map(({ text }) => text)).size, 1)
      assert.deepStrictEqual(counted(created2), { 201: half, 422: half })
      await holdsAll(world)
    },
  )

  it("do a request once when the client repeats it after its answer was lost", ofRows(33), async () => {
    const choice = new Choice(33)
    await world.worker()
    const proxies = world.servers.map(({ url }) => new Proxy(url))
    await Promise.all(proxies.map((proxy) => proxy.start()))
    await clients.withstandFor(12, {
      fail: async () => {
        for (const proxy of proxies) proxy.cutsAnswer = () => choice.chance(0.4)
        return () => {
          for (const proxy of proxies) proxy.cutsAnswer = () => false
        }
      },
      mayBeCut: true,
      servers: () => proxies.map(({ url }) => url),
    })
    assert.isAbove(
      proxies.reduce((sum, { cuts }) => sum + cuts, 0),
      0,
    )
    for (const proxy of proxies) proxy.stop()
  })

  it("record nothing for a customer after its deletion was acknowledged", ofRows(36), async () => {
    for (let round = 0; round < 10; round++) {
      const customer = await createCustomer(`Erased ${round}`)
      const record = { customer_id: customer, product_id: "api", quantity: 1, unit: "call" }
      const usage = (n: number) => tenantAt(n).call("POST", "/usage", { ...record, idempotency_key: `${n}` })
      const erase = usage(0).then(() => tenantAt(round).call("DELETE", `/customers/${customer}`))
      const answers = await each(20, (n) => usage(n + 1))
      assert.strictEqual((await erase).status, 200)
      assert.strictEqual((await usage(99)).status, 404)
      assert.includeMembers([201, 404], [...new Set(answers.map(({ status }) => status))])
    }
    await holdsAll(world)
  })

  it("sum 40,000 records of 4 concurrent clients exactly", ofRows(31), async () => {
    const customer = await createCustomer("Sums")
    const batches = 10
    const client = async (n: number) => {
      for (let batch = 0; batch < batches; batch++) {
        const records = Array.from({ length: 1000 }, (_, index) => ({
          customer_id: customer,
          product_id: "api",
          quantity: Number.MAX_SAFE_INTEGER - index,
          unit: "call",
          // Each client repeats half of the records of another client.
          idempotency_key: `${Math.floor(n / 2)}-${batch}-${index}`,
        }))
        const post = () =>
          Cli.call(world.servers[n]!.url, world.keys.test, "POST", "/v1/usage/batch", { records })
        let answer = await post()
        // A batch that waits for another one for longer than a statement may take gets 503, and is sent again.
        for (let sent = 1; answer.status === 503 && sent < SENDS; sent++) answer = await post()
        assert.strictEqual(answer.status, 200, answer.text)
      }
    }
    await each(PROCESSES, client)
    const sum = 1000n * BigInt(Number.MAX_SAFE_INTEGER) - (999n * 1000n) / 2n
    const summary = await summaryOf(customer)
    assert.include(summary, `"total_quantity":${sum * BigInt(2 * batches)},`)
    assert.include(summary, `"record_count":${2 * batches * 1000},`)
    const audit = await Cli.run(["audit", "usage", "--store", "postgres"], { env: world.env })
    assert.include(audit.stdout, "test: every roll-up equals its records.")
    assert.strictEqual(audit.code, 0)
  })
})
