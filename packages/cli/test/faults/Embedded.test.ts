import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * A server whose embedded Postgres is killed: row 45 of the fault matrix.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"
import { isPooled, MAJOR, PACKAGE_FOLDER } from "../FaultyPostgres.ts"
import { until } from "../Until.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"
import { preloading } from "./World.ts"

const CLIENTS = 8
const KILLS = 3
/** The number of records that are acknowledged before each kill and after the last one. */
const RECORDS = 50

const directory = mkdtempSync(join(tmpdir(), "billwright-killed-"))
// When tests run as root, Postgres runs as another user, who must be able to enter the directory.
chmodSync(directory, 0o755)
const store = ["--store", "embedded", "--data-dir", join(directory, "data")]

const env = process.env[PACKAGE_FOLDER] === undefined ? {} : preloading("OtherPostgres.ts")

let server: Cli.Serving
beforeAll(async () => {
  server = await Cli.serve(store, { env })
}, TIMEOUT)
afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
}, TIMEOUT)

const ask = (method: string, path: string, body?: unknown) =>
  Cli.call(server.url, server.keys.test, method, path, body)

/** Clients that record usage and repeat each record until it is acknowledged, and the answers that they got. */
const makeTraffic = (customerId: unknown) => {
  const seen = { acknowledged: 0, refused: 0, others: new Set<number>() }
  const ending = new AbortController()
  let next = 1
  const record = async (n: number): Promise<void> => {
    const { status } = await ask("POST", "/v1/usage", {
      customer_id: customerId,
      product_id: "api",
      quantity: n,
      unit: "call",
      idempotency_key: `k${n}`,
    })
    if (status === 200 || status === 201) seen.acknowledged++
    else if (status === 503) seen.refused++
    else seen.others.add(status)
    if (status === 503) await record(n)
  }
  const client = async () => {
    while (!ending.signal.aborted) await record(next++)
  }
  const clients = Array.from({ length: CLIENTS }, client)
  return {
    seen,
    /** Waits until all clients have ended. Returns the number of records. */
    end: async () => {
      ending.abort()
      await Promise.all(clients)
      return next - 1
    },
  }
}

/** The process id of Postgres, from the file `postmaster.pid`. */
const postgresPid = (): number =>
  Number(readFileSync(join(directory, "data", "postgres", "postmaster.pid"), "utf8").split("\n")[0])

// Nobody puts a pooler in front of it.
describe.skipIf(isPooled)("a server whose embedded Postgres is killed", () => {
  it(
    "answers 503, starts Postgres again, and keeps everything that it acknowledged",
    ofRows(45),
    async () => {
      const { body } = await ask("POST", "/v1/customers", { name: "Ada", email: "ada@example.com" })
      const { end, seen } = makeTraffic(body["id"])
      const acknowledged = (count: number) => {
        const wanted = seen.acknowledged + count
        return until(`${count} records`, async () => seen.acknowledged >= wanted)
      }
      await acknowledged(RECORDS)
      for (let kill = 1; kill <= KILLS; kill++) {
        const { refused } = seen
        process.kill(postgresPid(), "SIGKILL")
        await until("a 503", async () => seen.refused > refused)
        assert.strictEqual((await fetch(`${server.url}/livez`)).status, 200)
        await acknowledged(RECORDS)
      }
      const records = await end()

      assert.deepStrictEqual([...seen.others], [])
      const { text } = await ask("GET", `/v1/usage?customer_id=${String(body["id"])}`)
      assert.strictEqual(/"total_quantity":(\d+)/.exec(text)?.[1], String((records * (records + 1)) / 2))
      const { stdout } = await Cli.run(["audit", "usage", ...store])
      assert.strictEqual(
        stdout,
        "live: every roll-up equals its records.\ntest: every roll-up equals its records.\n",
      )
      assert.strictEqual(await server.stop(), 0)
      const major = readFileSync(join(directory, "data", "postgres", "PG_VERSION"), "utf8").trim()
      assert.strictEqual(major, process.env[MAJOR] ?? major)
    },
  )
})
