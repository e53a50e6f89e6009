/**
 * `keys issue` with an expiry, and the pepper that servers and commands share, on one Postgres.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"
import { Installation, TIMEOUT } from "./Installation.ts"

const installation = new Installation()
const directory = mkdtempSync(join(tmpdir(), "billwright-pepper-"))
const pepper = join(directory, "pepper")

beforeAll(async () => {
  writeFileSync(pepper, "a secret of the host\n", { mode: 0o600 })
  await installation.start()
}, TIMEOUT)
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await installation.stop()
}, TIMEOUT)

const issue = (args: ReadonlyArray<string>, env = {}) =>
  Cli.runHere(
    ["keys", "issue", "--store", "postgres", "--mode", "test", "--name", "trial", "--json", ...args],
    {
      env: { ...installation.env, ...env },
    },
  )
const issued = async (args: ReadonlyArray<string>, env = {}) =>
  JSON.parse((await issue(args, env)).stdout) as {
    readonly secret: string
    readonly created_at: string
    readonly expires_at: string | null
  }
const status = async (url: string, secret: string) =>
  (await Cli.call(url, secret, "GET", "/v1/customers")).status

describe("keys issue", () => {
  it("accepts how long a key is valid, or until when", { timeout: TIMEOUT }, async () => {
    const [thirty, until, forever] = await Promise.all([
      issued(["--expires-in", "30d"]),
      issued(["--expires-at", "2099-12-31T00:00:00+01:00"]),
      issued([]),
    ])
    const days = (Date.parse(thirty.expires_at!) - Date.parse(thirty.created_at)) / 86_400_000
    assert.approximately(days, 30, 0.01)
    assert.strictEqual(until.expires_at, "2099-12-30T23:00:00.000Z")
    assert.isNull(forever.expires_at)
    assert.strictEqual(await status(installation.server.url, thirty.secret), 200)
  })

  it.each([
    [
      ["--expires-in", "30"],
      /--expires-in must be a number of minutes, hours or days, such as 90m, 12h or 30d\. It is 30$/m,
    ],
    [["--expires-in", "0d"], /--expires-in must be a number of minutes, hours or days/],
    [["--expires-in", "999999d"], /--expires-in must be at most 36500d/],
    [["--expires-at", "2026-02-30T00:00:00Z"], /--expires-at must be an instant such as/],
    [["--expires-at", "2020-01-01T00:00:00Z"], /expiresAt must be in the future/],
    [["--expires-in", "1d", "--expires-at", "2099-01-01T00:00:00Z"], /give one of them/],
  ])("refuses %j", { timeout: TIMEOUT }, async (args, sentence) => {
    const { code, stderr, stdout } = await issue(args)
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.match(stderr, sentence)
  })
})

describe("the pepper", () => {
  it(
    "has to be the same for servers and commands, and comes from a file or the environment",
    { timeout: TIMEOUT },
    async () => {
      const variable = { BILLWRIGHT_API_KEY_PEPPER: "a secret of the host" }
      const server = await installation.another("--pepper-file", pepper)
      const [fromFile, fromVariable, without] = await Promise.all([
        issued(["--pepper-file", pepper]),
        issued([], variable),
        issued([]),
      ])
      const of = (url: string) =>
        Promise.all([fromFile, fromVariable, without].map(({ secret }) => status(url, secret)))
      assert.deepStrictEqual(await of(server.url), [200, 200, 401])
      assert.deepStrictEqual(await of(installation.server.url), [401, 401, 200])
      await server.stop()
    },
  )
})
