import { createHash } from "node:crypto"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { finished } from "node:stream/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parseLogLine } from "../src/LogLine.ts"
import { startProxy } from "./FaultyProxy.ts"
import {
  ACCESS_LOG,
  type BillingServer,
  countWithAwk,
  runMeter,
  runProduceLog,
  startBilling,
  startMeter,
  stop,
} from "./Programs.ts"

interface Printed {
  readonly lines: number
  readonly billed: number
  readonly not_billed: number
  readonly malformed: number
  readonly refused: number
  readonly recorded: number
  readonly duplicates: number
  readonly problems: ReadonlyArray<{ readonly line: number; readonly problem: string }>
  readonly totals: ReadonlyArray<Readonly<Record<"name" | "product" | "requests" | "bytes", string | number>>>
}

const to = (server: { readonly url: string }, key: string): ReadonlyArray<string> => [
  "--url",
  server.url,
  "--key",
  key,
]

/** Meters a log, which must succeed. Returns the printed JSON. */
const meter = async (args: ReadonlyArray<string>, log: string): Promise<Printed> => {
  const { code, stdout, stderr } = await runMeter([...args, "--json", log])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Printed
}

/** Totals in the format of count.awk. */
const rows = ({ totals }: Printed): ReadonlyArray<string> =>
  totals.map(({ name, product, requests, bytes }) => `${name} ${product} ${requests} ${bytes}`).sort()

let folder: string
let expected: ReadonlyArray<string>
let sample: ReadonlyArray<string>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "meter-access-log-"))
  expected = await countWithAwk(ACCESS_LOG)
  sample = (await readFile(ACCESS_LOG, "latin1")).trimEnd().split("\n")
})

afterAll(() => rm(folder, { recursive: true }))

const write = async (name: string, content: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, content, "latin1")
  return path
}

describe("the log that comes with the example", () => {
  it("is large, and has identical lines, many clients and a change to summer time", () => {
    expect(sample.length).toBeGreaterThanOrEqual(5000)
    expect(sample.length - new Set(sample).size).toBeGreaterThan(50)
    expect(new Set(sample.map((line) => line.split(" ")[0])).size).toBe(12)
    expect(new Set(sample.map((line) => /([+-]\d{4})\]/.exec(line)?.[1]))).toEqual(
      new Set(["+0100", "+0200"]),
    )
  })
})

describe("metering", () => {
  it("gives the same totals as an independent count, and running it again changes nothing", async () => {
    await using billing = await startBilling()
    const first = await meter(to(billing, billing.key), ACCESS_LOG)
    expect(rows(first)).toEqual(expected)
    expect(first).toMatchObject({ lines: sample.length, malformed: 0, refused: 0, duplicates: 0 })
    expect(first.billed + first.not_billed).toBe(first.lines)
    expect(first.recorded).toBeGreaterThan(first.billed)

    const second = await meter(to(billing, billing.key), ACCESS_LOG)
    expect(second).toEqual({ ...first, recorded: 0, duplicates: first.recorded })

    const { code, stdout } = await runMeter([...to(billing, billing.key), ACCESS_LOG])
    expect(code).toBe(0)
    const table = stdout.split("\n").map((line) => line.trim().replaceAll(/ +/g, " ").replaceAll(",", ""))
    expect(table.filter((row) => expected.includes(row)).sort()).toEqual(expected)
  })

  it("is exact after being killed between a batch and its answer", async () => {
    await using billing = await startBilling()
    let batches = 0
    await using proxy = await startProxy(billing.url, ({ path }) =>
      path === "/v1/usage/batch" && ++batches === 5 ? "withhold the answer" : "none",
    )
    const child = startMeter([...to(proxy, billing.key), "--batch", "100", ACCESS_LOG])
    await proxy.withheld
    await stop(child, "SIGKILL")
    expect(child.signalCode).toBe("SIGKILL")

    const again = await meter(to(billing, billing.key), ACCESS_LOG)
    expect(rows(again)).toEqual(expected)
    // Five batches of 99 or 100 records were stored. The killed program didn't know about the last one.
    expect(again.duplicates).toBeGreaterThanOrEqual(5 * 99)
    expect(again.duplicates).toBeLessThanOrEqual(5 * 100)
    expect(again.recorded).toBeGreaterThan(0)
  })

  it("is exact with two runs at the same time, which both find no customer", async () => {
    await using billing = await startBilling()
    // Each look-up of a customer is answered after both runs have sent it, so that both then create the customer.
    const asked = new Map<string, PromiseWithResolvers<void>>()
    const meet = (path: string): Promise<void> => {
      const other = asked.get(path)
      if (other === undefined) asked.set(path, Promise.withResolvers())
      else other.resolve()
      return asked.get(path)?.promise ?? Promise.resolve()
    }
    await using proxy = await startProxy(billing.url, ({ path }) =>
      path.startsWith("/v1/customers?") ? { answerAfter: () => meet(path) } : "none",
    )
    const args = [...to(proxy, billing.key), "--batch", "200"]
    const runs = await Promise.all([meter(args, ACCESS_LOG), meter(args, ACCESS_LOG)])
    expect(runs[0].recorded + runs[1].recorded).toBe(runs[0].duplicates + runs[1].duplicates)
    expect(rows(await meter(to(billing, billing.key), ACCESS_LOG))).toEqual(expected)
  })

  it("is exact when the server is busy and answers are lost", async () => {
    await using billing = await startBilling()
    await using proxy = await startProxy(billing.url, ({ number, path }) => {
      if (number % 7 === 3) return 429
      if (number % 7 === 4) return 503
      return number % 7 === 6 && !path.startsWith("/v1/usage?") ? "lose the answer" : "none"
    })
    const printed = await meter([...to(proxy, billing.key), "--batch", "700"], ACCESS_LOG)
    expect(rows(printed)).toEqual(expected)
    expect(printed.duplicates).toBeGreaterThan(0)
  })

  it("identifies a line by its text, not by its file", async () => {
    await using billing = await startBilling()
    const args = to(billing, billing.key)
    const half = sample.length / 2
    await meter(args, await write("access.log.1", sample.slice(0, half).join("\n")))
    await meter(args, await write("access.log", sample.slice(half).join("\r\n")))
    const whole = await meter(args, ACCESS_LOG)
    expect(whole.recorded).toBe(0)
    expect(rows(whole)).toEqual(expected)
  })

  it("reports malformed lines and lines that the server refuses, and records the others", async () => {
    await using billing = await startBilling()
    const future = '127.0.0.2 - - [01/Jan/2999:00:00:00 +0000] "GET /api/search HTTP/1.1" 200 7 "-" "-"'
    const bad = ["", "-- MARK --", future, "x".repeat(70_000), (sample[0] ?? "").slice(0, -1)]
    const log = await write("bad.log", [...sample.slice(0, 100), ...bad, ...sample.slice(100)].join("\n"))
    const { code, stdout, stderr } = await runMeter([...to(billing, billing.key), "--json", log])
    expect(code).toBe(0)
    const printed = JSON.parse(stdout) as Printed
    expect(rows(printed)).toEqual(expected)
    expect(printed).toMatchObject({ lines: sample.length + 5, malformed: 4, refused: 1 })
    expect([...printed.problems].sort((a, b) => a.line - b.line)).toEqual([
      { line: 101, problem: "not in combined format" },
      { line: 102, problem: "not in combined format" },
      { line: 103, problem: expect.stringContaining("refused: timestamp must not be") },
      { line: 104, problem: "too long" },
      { line: 105, problem: "not in combined format" },
    ])
    expect(stderr).toContain(`${log}:102: not in combined format`)
  })

  it("prints totals beyond 2^53 exactly", async () => {
    await using billing = await startBilling()
    const args = to(billing, billing.key)
    const log = await write("one.log", `${sample.find((line) => /"GET \/files\/.* 206 1024 /.test(line))}\n`)
    const { totals } = await meter(args, log)
    const record = { product_id: "downloads", unit: "byte", timestamp: "2026-03-28T12:00:00Z" }
    const customer_id = String((totals[0] as { readonly customer_id?: string }).customer_id)
    const records = [1, 2].map(() => ({ ...record, customer_id, quantity: Number.MAX_SAFE_INTEGER }))
    await post(billing, "/usage/batch", { records })
    // The total covers the days of the whole log.
    const { stdout } = await runMeter([...args, "--json", ACCESS_LOG])
    const name = String(totals[0]?.name)
    const bytes = expected.find((row) => row.startsWith(`${name} downloads `))?.split(" ")[3] ?? ""
    expect(stdout).toContain(`"bytes": ${2n * BigInt(Number.MAX_SAFE_INTEGER) + BigInt(bytes)}\n`)
  })

  it("reads a log that is much larger than its memory", async () => {
    await using billing = await startBilling()
    const path = join(folder, "large.log")
    const file = createWriteStream(path)
    const unbilled = sample.filter((line) => line.includes(" /static/"))
    for (let times = 0; times < 1000; times++)
      if (!file.write(`${unbilled.join("\n")}\n`)) await once(file, "drain")
    file.end()
    await finished(file)
    const { code, stdout, stderr } = await runMeter(
      [...to(billing, billing.key), "--json", path],
      ["--max-old-space-size=24"],
    )
    expect(stderr).toBe("")
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ lines: unbilled.length * 1000, billed: 0, totals: [] })
  })
})

describe("an error is explained in a sentence", () => {
  let billing: BillingServer
  beforeAll(async () => {
    billing = await startBilling()
  })
  afterAll(() => billing[Symbol.asyncDispose]())

  it("a wrong key", async () => {
    const { code, stdout, stderr } = await runMeter([
      ...to(billing, ["sk", "test", "nonsense"].join("_")),
      ACCESS_LOG,
    ])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^http:\S+ does not accept this key: .*\n$/)
  })

  it("no key", async () => {
    const { code, stderr } = await runMeter(["--url", billing.url, ACCESS_LOG])
    expect({ code, stderr }).toEqual({ code: 1, stderr: "Give an API key: --key or BILLWRIGHT_API_KEY.\n" })
  })

  it("no server", async () => {
    const closed = createServer().listen(0, "127.0.0.1")
    await once(closed, "listening")
    const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
    closed.close()
    await once(closed, "close")
    const { code, stderr } = await runMeter([...to({ url }, "x"), ACCESS_LOG])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `Cannot reach ${url}/v1: ECONNREFUSED. Is the server running?\n`,
    })
  })

  it("another server", async () => {
    const other = createServer((_, response) => response.writeHead(404).end("<h1>Not found</h1>"))
    other.listen(0, "127.0.0.1")
    await once(other, "listening")
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const { code, stderr } = await runMeter([...to({ url }, "x"), ACCESS_LOG])
    other.close()
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${url}/v1 answered 404, but not as Billwright does.\n`,
    })
  })

  it("a server that stays busy", async () => {
    await using proxy = await startProxy(billing.url, ({ path }) =>
      path === "/v1/usage/batch" ? 503 : "none",
    )
    const { code, stderr } = await runMeter([...to(proxy, billing.key), ACCESS_LOG])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `Gave up on ${proxy.url}/v1 after 6 tries: the server answered 503.\n`,
    })
  })

  it("a server that is busy for too long", async () => {
    await using proxy = await startProxy(billing.url, ({ path }) =>
      path === "/v1/usage/batch" ? "busy for an hour" : "none",
    )
    const { code, stderr } = await runMeter([...to(proxy, billing.key), ACCESS_LOG])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${proxy.url}/v1 asks to come back in 3600 seconds: the server answered 503.\n`,
    })
  })

  it("no log", async () => {
    const { code, stderr } = await runMeter([...to(billing, billing.key), join(folder, "missing.log")])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Cannot read .*missing\.log: ENOENT/)
  })

  it("a line that was recorded before with other content", async () => {
    const line = '127.0.0.99 - - [28/Mar/2026:12:00:00 +0100] "GET /api/search HTTP/1.1" 200 - "-" "-"'
    const { id } = await post(billing, "/customers", {
      name: "127.0.0.99",
      email: "ipv4-127.0.0.99@clients.example",
    })
    const digest = createHash("sha256").update(line).digest("hex")
    await post(billing, "/usage", {
      customer_id: id,
      product_id: "another",
      quantity: 1,
      unit: "request",
      timestamp: "2026-03-28T11:00:00Z",
      idempotency_key: `${digest}-1-request`,
    })
    const { code, stderr } = await runMeter([
      ...to(billing, billing.key),
      await write("changed.log", `${line}\n`),
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Line 1 was recorded before with other content: .*Were the rules changed since\?/)
  })
})

const post = async (
  { url, key }: BillingServer,
  path: string,
  body: unknown,
): Promise<{ readonly id: string }> => {
  const response = await fetch(`${url}/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as { readonly id: string }
}

// On other systems the loopback interface has only one address.
describe.runIf(process.platform === "linux")("producing a log", () => {
  it("gives the same log for the same seed, with the given clock", async () => {
    const args = ["--lines", "300", "--from", "2026-03-28T23:00:00Z", "--timezone", "Europe/Paris"]
    const logs = [join(folder, "a.log"), join(folder, "b.log")]
    for (const log of logs)
      expect(await runProduceLog([...args, "--no-ipv6", log])).toMatchObject({ code: 0, stderr: "" })
    const [a, b] = await Promise.all(logs.map((log) => readFile(log, "latin1")))
    expect(a).toBe(b)
    expect(a?.trimEnd().split("\n")).toHaveLength(300)
    expect(a).toContain("[29/Mar/2026:")
  })

  it("uses the real time by default", async () => {
    const log = join(folder, "now.log")
    const start = Math.floor(Date.now() / 1000) * 1000
    expect(await runProduceLog(["--lines", "20", "--no-ipv6", log])).toMatchObject({ code: 0 })
    const { time } = parseLogLine((await readFile(log, "latin1")).split("\n")[0] ?? "").line ?? {}
    expect(Date.parse(time ?? "")).toBeGreaterThanOrEqual(start)
    expect(Date.parse(time ?? "")).toBeLessThanOrEqual(Date.now())
  })
})
