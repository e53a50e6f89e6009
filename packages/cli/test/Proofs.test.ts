/** `billwright proofs`: exports from a server in memory, and checks without it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"

const TIMEOUT = 120_000
const folder = mkdtempSync(join(tmpdir(), "billwright-proofs-"))
const at = (name: string): string => join(folder, name)
let server: Cli.Serving

const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Cli.runHere(["proofs", ...args], {
    env: { BILLWRIGHT_URL: server.url, BILLWRIGHT_API_KEY: server.keys.test, ...env },
  })

const print = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { code, stderr, stdout } = await run(args)
  assert.deepStrictEqual([code, stderr], [0, ""])
  return stdout
}

const newKey = async () => (await Cli.runHere(["proofs", "new-key"])).stdout.trim()

beforeAll(async () => {
  const [key, former] = [await newKey(), await newKey()]
  server = await Cli.serve(["--store", "memory", "--no-dispatch"], {
    env: { BILLWRIGHT_PROOF_KEYS: `${key},${former}` },
  })
  const call = (path: string, body: object) => Cli.call(server.url, server.keys.test, "POST", path, body)
  const { id } = (await call("/v1/customers", { name: "Ada", email: "ada@example.com" })).body as {
    id: string
  }
  for (const amount of [90_000, 45_000, 10_000]) {
    const lines = [{ description: "Workshop", amount }]
    const draft = await call("/v1/invoices", { customer_id: id, currency: "EUR", lines })
    await call(`/v1/invoices/${(draft.body as { id: string }).id}/finalize`, {})
  }
  const published = await fetch(`${server.url}/.well-known/billwright-proof-keys.json`)
  assert.strictEqual(published.headers.get("content-type"), "application/jwk-set+json")
  const text = await published.text()
  assert.lengthOf((JSON.parse(text) as { keys: ReadonlyArray<object> }).keys, 2)
  assert.notInclude(text, key)
  writeFileSync(at("keys.json"), text)
  writeFileSync(at("proofs.ndjson"), await print("export"))
}, TIMEOUT)
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await server.stop()
}, TIMEOUT)

const verify = (name: string, ...more: ReadonlyArray<string>) =>
  run(["verify", at(name), "--keys", at("keys.json"), ...more])

describe("billwright proofs", () => {
  it("prints a line for each proof, which verify finds right", async () => {
    const lines = readFileSync(at("proofs.ndjson"), "utf8").trim().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => (JSON.parse(line) as { number: string }).number.slice(-4)),
      ["0003", "0002", "0001"],
    )
    const { code, stdout } = await verify("proofs.ndjson")
    assert.strictEqual(code, 0)
    assert.match(
      stdout,
      /^Read 3 proofs: 0 lines were rated again, 3 only computed again\.\nThe last one is 3:[0-9a-f]{64}$/m,
    )
  })

  it("shows an invoice that is missing, one that was changed, and an end that was cut off", async () => {
    const lines = readFileSync(at("proofs.ndjson"), "utf8").trim().split("\n")
    const [last, middle, first] = lines
    const end = /is (3:[0-9a-f]{64})/.exec((await verify("proofs.ndjson")).stdout)?.[1] ?? ""
    writeFileSync(at("missing.ndjson"), `${last!}\n${first!}\n`)
    const missing = await verify("missing.ndjson")
    assert.strictEqual(missing.code, 1)
    assert.match(missing.stdout, /1 before it are missing/)
    writeFileSync(at("changed.ndjson"), `${last!}\n${middle!.replace("45000", "44000")}\n${first!}\n`)
    const changed = await verify("changed.ndjson", "--json")
    assert.strictEqual(changed.code, 1)
    const report = JSON.parse(changed.stdout) as {
      is_valid: boolean
      problems: ReadonlyArray<{ problem: string }>
    }
    assert.isFalse(report.is_valid)
    assert.match(report.problems.map(({ problem }) => problem).join(), /wrong signature/)
    writeFileSync(at("cut.ndjson"), `${middle!}\n${first!}\n`)
    assert.strictEqual((await verify("cut.ndjson")).code, 0)
    const cut = await verify("cut.ndjson", "--includes", end)
    assert.strictEqual(cut.code, 1)
    assert.match(cut.stdout, /lack the one at position 3/)
    writeFileSync(at("garbage.ndjson"), "not a proof\n")
    assert.match((await verify("garbage.ndjson")).stdout, /proofs\[0\] can't be read/)
  })

  it("says which file can't be read, and which key is wrong", async () => {
    assert.match((await verify("nothing.ndjson")).stderr, /nothing\.ndjson can't be read/)
    writeFileSync(at("wrong.json"), "{}")
    const wrong = await run(["verify", at("proofs.ndjson"), "--keys", at("wrong.json")])
    assert.match(wrong.stderr, /wrong\.json must be a JWK Set/)
    const bad = await run(["keys"], { BILLWRIGHT_PROOF_KEYS: "prfk_secret" })
    assert.match(bad.stderr, /BILLWRIGHT_PROOF_KEYS: a key that signs proofs must be/)
    assert.notInclude(bad.stderr, "prfk_secret")
  })
})
