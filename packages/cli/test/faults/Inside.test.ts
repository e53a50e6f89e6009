/**
 * Redirects, addresses and names that lead to the internal network: row 39 of the fault matrix, with a real worker and
 * a real Postgres. Each leads to a listener (the canary) at a forbidden address that works on this machine: on Linux
 * `0.0.0.0` and `::` reach 127.0.0.1, and in live mode loopback itself is forbidden.
 */
import { createServer } from "node:http"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { A, AAAA, type Answer, NameServer, only } from "../../../node/test/NameServer.ts"
import { freshLoopback } from "../../../node/test/Receivers.ts"
import { INVOICE, type Tenant } from "../Tenant.ts"
import { Canary } from "./Canary.ts"
import { holdsAll } from "./Checks.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { preloading, SHORT_LEASE, World } from "./World.ts"

const world = new World()
const names = new NameServer()
/** The canary that test mode must not reach by a forbidden address. */
const canary = new Canary()
const REACHING = ["0.0.0.0", "127.0.0.1"]
/** The canary that live mode must not reach at all. */
const liveCanary = new Canary()
const liveHost = freshLoopback()
const LIVE_PORT = 8443

/** A receiver at the port of the canary and at another address, which test mode allows. */
const ALLOWED = "127.0.0.2"
let answered = 0
const allowed = createServer((_, response) => {
  answered++
  // Ends the connection. Otherwise it would be reused, and the name would not be looked up again.
  response.writeHead(500, { connection: "close" }).end()
})

beforeAll(async () => {
  await Promise.all([world.start(), names.start(), canary.start("127.0.0.1")])
  await liveCanary.start(liveHost, LIVE_PORT)
  await new Promise<void>((resolve) => allowed.listen(canary.port, ALLOWED, resolve))
}, TIMEOUT)
afterEach(async () => {
  await world.endWorkers()
  await holdsAll(world)
}, TIMEOUT)
afterAll(async () => {
  names.stop()
  canary.stop()
  liveCanary.stop()
  allowed.close()
  await world.stop()
}, TIMEOUT)

const TYPE = "invoice.paid"

/** A worker that uses the name server of the test. */
const worker = () => world.worker(SHORT_LEASE, { ...preloading("NameServers.ts"), NAME_SERVER: names.server })

/** Waits until the first delivery of an endpoint has had this many attempts. Returns the delivery. */
const sentTo = async (tenant: Tenant, endpoint_id: string, count = 1) => {
  const [delivery] = await tenant.deliveries({ endpoint_id })
  return tenant.deliveryThatIs(delivery!.id, ({ attempts }) => attempts.length >= count)
}

const retire = async (tenant: Tenant, ids: ReadonlyArray<string>): Promise<void> => {
  for (const id of ids) await tenant.request("DELETE", `/webhook_endpoints/${id}`)
  await world.drain()
}

/** The API refuses these URLs, so they are written to the database. Even then nothing is sent to them. */
const areRefused = async (tenant: Tenant, urls: ReadonlyArray<string>, harmless: string): Promise<void> => {
  const ids: Array<string> = []
  for (const url of urls) {
    const refused = await tenant.call("POST", "/webhook_endpoints", { url, event_types: [TYPE] })
    assert.strictEqual(refused.status, 400, url)
    assert.match(refused.text, /"message":"url /)
    const { id } = await tenant.endpoint(`${harmless}/${ids.length}`, [TYPE])
    await world.postgres.query(
      `update billwright.webhook_endpoints set url = '${url}' where url = '${harmless}/${ids.length}'`,
    )
    world.damages(id, url)
    ids.push(id)
  }
  await tenant.publish(INVOICE, TYPE)
  await worker()
  for (const [index, id] of ids.entries()) {
    const { attempts } = await sentTo(tenant, id)
    assert.deepInclude(attempts[0]!, { error: "blocked_address", response_status: null }, urls[index])
  }
  await retire(tenant, ids)
}

describe("a canary in the internal network", () => {
  it("is not reached by a redirect", ofRows(39), async () => {
    const paths = [301, 302, 303, 307, 308].flatMap((status) =>
      REACHING.map((host) => {
        const path = `/redirects/${status}/${host}`
        world.receiver.script(path, ({ answer }) =>
          answer(status, { location: `http://${host}:${canary.port}/latest/meta-data/` }),
        )
        return [path, status] as const
      }),
    )
    const targets = await Promise.all(paths.map(([path]) => world.target(path)))
    await world.tenant.publish()
    await worker()
    for (const [index, { id }] of targets.entries()) {
      const { attempts } = await sentTo(world.tenant, id)
      assert.deepInclude(attempts[0]!, { error: null, response_status: paths[index]![1] })
    }
    await canary.wasNotTouched(...REACHING)
    await retire(
      world.tenant,
      targets.map(({ id }) => id),
    )
  })

  it("is not reached in test mode by any spelling of a forbidden address", ofRows(39), async () => {
    const hosts = [
      "0.0.0.0",
      "0",
      "0x0",
      "00.0.0.0",
      "０.0.0.0",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
    ]
    const urls = hosts.map((host) => `http://${host}:${canary.port}/`)
    await areRefused(world.tenant, urls, "http://127.0.0.1:9/harmless")
    await canary.wasNotTouched(...REACHING)
  })

  it("is not reached in live mode by any trick with its address", ofRows(39), async () => {
    const [a, b, c, d] = liveHost.split(".").map(Number) as [number, number, number, number]
    const number = ((a * 256 + b) * 256 + c) * 256 + d
    const hosts = [
      liveHost,
      String(number),
      `0x${number.toString(16)}`,
      `0${number.toString(8)}`,
      `１${liveHost.slice(1)}`,
      `[::ffff:${liveHost}]`,
      `[64:ff9b::${liveHost}]`,
    ]
    const urls = [
      ...hosts.map((host) => `https://${host}:${LIVE_PORT}/`),
      `http://${liveHost}:${LIVE_PORT}/`,
      `https://user@${liveHost}:${LIVE_PORT}/`,
      `https://${liveHost}:${LIVE_PORT}/#fragment`,
      `https://127.0.0.1:${canary.port}/`,
      `http://example.com:${canary.port}/`,
      "https://[::1]/",
      "https://169.254.169.254/latest/meta-data/",
      "https://10.0.0.1/",
      "https://localhost/",
    ]
    await areRefused(world.liveTenant, urls, "https://receiver.example.com/harmless")
    await liveCanary.wasNotTouched(liveHost)
    await canary.wasNotTouched(...REACHING)
  })

  it("is not reached by a name that has its address", ofRows(39), async () => {
    const [nowhere, fine] = [
      [0, 0, 0, 0],
      [127, 0, 0, 2],
    ]
    const answers: Readonly<Record<string, Answer>> = {
      "inside.example": only(A, nowhere!),
      "mixed.example": only(A, fine!, nowhere!),
      "mixed6.example": (type) =>
        only(type, ...(type === AAAA ? [Array.from({ length: 16 }, () => 0)] : [fine!]))(type),
    }
    for (const [name, answer] of Object.entries(answers)) names.says(name, answer)
    names.says("live.example", only(A, liveHost.split(".").map(Number)))
    const { tenant, liveTenant } = world
    const answeredBefore = answered
    const ids: Array<string> = []
    for (const name of Object.keys(answers)) {
      ids.push((await tenant.endpoint(`http://${name}:${canary.port}/`, [TYPE])).id)
    }
    const live = await liveTenant.endpoint(`https://live.example:${LIVE_PORT}/`, [TYPE])
    await tenant.publish()
    await liveTenant.publish()
    await worker()
    for (const id of ids) assert.strictEqual((await sentTo(tenant, id)).attempts[0]!.error, "blocked_address")
    assert.strictEqual((await sentTo(liveTenant, live.id)).attempts[0]!.error, "blocked_address")
    for (const name of [...Object.keys(answers), "live.example"]) assert.include(names.asked, name)
    await liveTenant.request("DELETE", `/webhook_endpoints/${live.id}`)
    await retire(tenant, ids)
    assert.strictEqual(answered, answeredBefore, "one forbidden address forbids the others")
    await canary.wasNotTouched(...REACHING)
    await liveCanary.wasNotTouched(liveHost)
  })

  it("is not reached by a name whose address changes between two look-ups", ofRows(39), async () => {
    const answeredBefore = answered
    let questions = 0
    names.says("rebinds.example", (type) =>
      type === A ? only(A, questions++ % 2 === 0 ? [127, 0, 0, 2] : [0, 0, 0, 0])(type) : only(A)(type),
    )
    const { id } = await world.tenant.endpoint(`http://rebinds.example:${canary.port}/`, [TYPE])
    await world.tenant.publish()
    await worker()
    const { attempts } = await sentTo(world.tenant, id, 2)
    assert.deepStrictEqual(
      attempts.slice(0, 2).map(({ error, response_status }) => error ?? response_status),
      [500, "blocked_address"],
    )
    assert.isAbove(answered, answeredBefore)
    await retire(world.tenant, [id])
    await canary.wasNotTouched(...REACHING)
  })
})
