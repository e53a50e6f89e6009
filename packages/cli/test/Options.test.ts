/**
 * Options of `serve` and of keys, and the messages for typing mistakes.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"

const TIMEOUT = 120_000
const directory = mkdtempSync(join(tmpdir(), "billwright-options-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const at = (name: string): string => join(directory, name)
const memory = ["--store", "memory"]
/** Expects that the command refuses with this sentence. */
const refused = async (args: ReadonlyArray<string>, sentence: RegExp, env = {}) => {
  const { code, stderr, stdout } = await Cli.runHere(args, { env })
  assert.strictEqual(code, 1)
  assert.match(stderr, sentence)
  assert.notInclude(stdout, "listening")
}

describe("a typing mistake", () => {
  it.each([
    [
      ["serve", "--prot", "80"],
      'billwright: Unrecognized flag: --prot in command billwright serve: did you mean --port?\nRun "billwright serve --help" for help.\n',
    ],
    [
      ["listen"],
      'billwright: Missing required flag: --forward-to\nRun "billwright listen --help" for help.\n',
    ],
    [
      ["keys", "nope"],
      'billwright: Unknown subcommand "nope" for "billwright keys"\nRun "billwright keys --help" for help.\n',
    ],
    [
      ["serve", "--port", "99999"],
      'billwright: Invalid value for flag --port: "99999". Expected a value between 0 and 65535\nRun "billwright serve --help" for help.\n',
    ],
    [
      ["help", "keys", "isue"],
      'billwright: there is no command "billwright keys isue", did you mean issue?\n',
    ],
  ])("is explained in one line, and then how to get help: %j", { timeout: TIMEOUT }, async (args, stderr) => {
    assert.deepStrictEqual(await Cli.run(args), { code: 1, stdout: "", stderr })
  })
})

describe("DATABASE_URL", () => {
  it.each([
    ["mysql://x", /^billwright: DATABASE_URL takes a URL that begins with postgres:\/\/$/m],
    ["", /^billwright: --store postgres needs the environment variable DATABASE_URL, such as postgres:/m],
  ])("is refused when it is %j", { timeout: TIMEOUT }, async (url, sentence) => {
    const env = { DATABASE_URL: url, ...Cli.ENCRYPTION }
    for (const command of ["serve", "migrate"]) await refused([command, "--store", "postgres"], sentence, env)
  })
})

describe("a Node that is too old", () => {
  it("is refused in a line, before Effect is loaded", { timeout: TIMEOUT }, async () => {
    const older = `import { registerHooks } from "node:module"
Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.5" } })
registerHooks({
  resolve: (name, context, next) => {
    if (name.startsWith("effect")) console.error("loads", name)
    return next(name, context)
  },
})`
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(older)}` }
    assert.deepStrictEqual(await Cli.run(["--version"], { env }), {
      code: 1,
      stdout: "",
      stderr: "billwright: Billwright needs Node 22.19 or later, and this is Node 20.19.5\n",
    })
  })
})

describe("listen --forward-to", () => {
  const listen = (to: string) =>
    Cli.runHere(["listen", "--forward-to", to, "--url", "http://127.0.0.1:2"], {
      env: { BILLWRIGHT_API_KEY: `sk_${"test"}_${"a".repeat(38)}` },
    })

  it.each(["localhost:3000", "3000", ":3000/hooks", "http://localhost:3000"])(
    "accepts %s, and then fails because no server runs",
    { timeout: TIMEOUT },
    async (to) =>
      assert.match((await listen(to)).stderr, /^billwright: http:\/\/127\.0\.0\.1:2 can't be reached/),
  )

  it.each(["me:secret@localhost:3000", "localhost:port", "70000"])(
    "refuses %s",
    { timeout: TIMEOUT },
    async (to) =>
      assert.match((await listen(to)).stderr, /it must be an address such as localhost:3000 or http/),
  )
})

describe("help", () => {
  it.each([[["help"]], [["help", "serve"]], [["help", "keys", "issue"]]])(
    "%j prints the same as --help",
    { timeout: TIMEOUT },
    async ([help = "", ...path]) => {
      const [asked, flagged] = await Promise.all([Cli.run([help, ...path]), Cli.run([...path, "--help"])])
      assert.deepStrictEqual(asked, flagged)
      assert.strictEqual(asked.code, 0)
      assert.include(asked.stdout, `billwright ${path.join(" ")}`)
    },
  )
})

describe("serve --credit-units", () => {
  it.each(["credits", "credits=7", "EUR=2", "credits=2,credits=3", "credits=2,"])(
    "refuses %s",
    { timeout: TIMEOUT },
    (units) =>
      refused(
        ["serve", "--port", "0", ...memory, "--credit-units", units],
        /must name each unit once, with 0 to 6 decimals, such as credits=2,token=0\. .*It is /,
      ),
  )
})

describe("serve --keys-file", () => {
  it(
    "writes the first keys to a file that only its owner can read, and prints its path",
    { timeout: TIMEOUT },
    async () => {
      const path = at("keys")
      const server = await Cli.serve([...memory, "--keys-file", path])
      const text = readFileSync(path, "utf8")
      assert.match(text, /^test key {2}sk_test_[0-9A-Za-z]{38}\nlive key {2}sk_live_[0-9A-Za-z]{38}\n$/)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.include(server.stdout(), `The first keys are in ${path}, which only you can read.`)
      const key = /test key {2}(\S+)/.exec(text)![1]!
      assert.strictEqual((await Cli.call(server.url, key, "GET", "/v1/customers")).status, 200)
      await server.stop()
      assert.notMatch(server.stdout() + server.stderr(), /sk_(test|live)_[0-9A-Za-z]{10}/)

      // Another new store: it issues no keys, because they would be lost, and the file is unchanged.
      await refused(["serve", "--port", "0", ...memory, "--keys-file", path], /keys exists already$/m)
      assert.strictEqual(readFileSync(path, "utf8"), text)
    },
  )

  it(
    "refuses a file that others may read, or that contains something else",
    { timeout: TIMEOUT },
    async () => {
      const open = at("open")
      writeFileSync(open, `test key  sk_${"test"}_${"a".repeat(38)}\n`)
      chmodSync(open, 0o644)
      await refused(
        ["serve", "--port", "0", ...memory, "--keys-file", open],
        /^billwright: the file .*open may be read by others \(its mode is 644\): run "chmod 600/,
      )
      const other = at("other")
      writeFileSync(other, "a diary\n", { mode: 0o600 })
      await refused(
        ["serve", "--port", "0", ...memory, "--keys-file", other],
        /other contains something other than API keys/,
      )
      assert.strictEqual(readFileSync(other, "utf8"), "a diary\n")
      await refused(
        ["serve", "--port", "0", ...memory, "--keys-file", at("no/keys")],
        /directory does not exist/,
      )
      assert.isFalse(existsSync(at("no")))
    },
  )
})

describe("serve --rate-limit", () => {
  it("limits the requests of a key", { timeout: TIMEOUT }, async () => {
    const server = await Cli.serve([...memory, "--rate-limit", "1", "--rate-limit-burst", "3"])
    const get = (key: string) => Cli.call(server.url, key, "GET", "/v1/customers")
    const statuses: Array<number> = []
    // Even on a slow machine some are refused: the limit grows by one per second, and the test sends far more.
    for (let n = 0; n < 200 && !statuses.includes(429); n++)
      statuses.push((await get(server.keys.test)).status)
    assert.deepStrictEqual(statuses.slice(0, 3), [200, 200, 200])
    assert.include(statuses, 429)
    assert.strictEqual((await get(server.keys.live)).status, 200)
    await server.stop()
    await refused(["serve", ...memory, "--rate-limit-burst", "3"], /--rate-limit-burst needs --rate-limit/)
    await refused(["serve", ...memory, "--rate-limit", "0"], /--rate-limit/)
  })
})

describe("the limits of serve", () => {
  it("on requests of an account count for all its keys", { timeout: TIMEOUT }, async () => {
    const server = await Cli.serve([...memory, "--account-rate-limit", "1"])
    const statuses: Array<number> = []
    for (let n = 0; n < 200 && !statuses.includes(429); n++) {
      const key = n % 2 === 0 ? server.keys.test : server.keys.live
      statuses.push((await Cli.call(server.url, key, "GET", "/v1/customers")).status)
    }
    assert.include(statuses, 429)
    await server.stop()
  })

  it(
    "on the age of keys, usage and answers, and on whom it believes, are those of the library",
    { timeout: TIMEOUT },
    async () => {
      const limits = ["--max-key-age", "30d", "--usage-max-past", "2h", "--idempotency-retention", "1d"]
      const server = await Cli.serve([...memory, ...limits, "--trusted-proxies", "127.0.0.0/8"])
      const call = (path: string, body: object) => Cli.call(server.url, server.keys.test, "POST", path, body)
      const customer = await call("/v1/customers", { name: "Ada", email: "ada@example.com" })
      const { id } = customer.body as { readonly id: string }
      const record = { customer_id: id, product_id: "api", unit: "call", quantity: 1 }
      const old = new Date(Date.now() - 3 * 3_600_000).toISOString()
      assert.strictEqual((await call("/v1/usage", record)).status, 201)
      const late = await call("/v1/usage", { ...record, timestamp: old })
      assert.strictEqual(late.status, 400)
      await server.stop()
      await refused(
        ["serve", ...memory, "--max-key-age", "soon"],
        /--max-key-age must be a number of minutes/,
      )
      await refused(["serve", ...memory, "--trusted-proxies", "10.0.0.1/8"], /without bits set/)
      const idle = ["serve", ...memory, "--no-dispatch", "--nightly-book-checks"]
      await refused(idle, /--nightly-book-checks and --no-dispatch can't be used together/)
    },
  )
})

describe("the pepper", () => {
  it(
    "is refused when a file and the environment have one, or when others may read the file",
    { timeout: TIMEOUT },
    async () => {
      const path = at("pepper")
      const args = ["serve", "--port", "0", ...memory, "--pepper-file", path]
      await refused(args, /pepper does not exist$/m)
      writeFileSync(path, "", { mode: 0o600 })
      await refused(args, /pepper is empty$/m)
      writeFileSync(path, "salt and\n")
      await refused(args, /BILLWRIGHT_API_KEY_PEPPER can.t be used together/, {
        BILLWRIGHT_API_KEY_PEPPER: "another",
      })
      chmodSync(path, 0o640)
      await refused(args, /may be read by others \(its mode is 640\)/)
    },
  )
})
