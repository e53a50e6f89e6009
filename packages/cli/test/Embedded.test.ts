import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * `billwright` on the embedded Postgres: acknowledged records survive crashes, and the operator's commands work.
 */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import * as Cli from "./Cli.ts"
import { until } from "./Until.ts"

const TIMEOUT = 60_000

let cwd = ""
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "billwright-cli-"))
  // When tests run as root, Postgres runs as another user, who must be able to enter the directory.
  chmodSync(cwd, 0o755)
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const store = (name: string): ReadonlyArray<string> => ["--store", "embedded", "--data-dir", join(cwd, name)]

const totalOf = async (url: string, key: string, customer: unknown): Promise<string | undefined> => {
  const { text } = await Cli.call(url, key, "GET", `/v1/usage?customer_id=${String(customer)}`)
  return /"total_quantity":(\d+)/.exec(text)?.[1]
}

/** The process id of the embedded Postgres, from the file `postmaster.pid`. */
const postgresPid = (name: string): number =>
  Number(readFileSync(join(cwd, name, "postgres", "postmaster.pid"), "utf8").split("\n")[0])

describe("an embedded store", () => {
  it(
    "keeps every acknowledged record when the server and Postgres are killed during requests",
    { timeout: TIMEOUT },
    async () => {
      const first = await Cli.serve(store("killed"))
      const key = first.keys.test
      const created = await Cli.call(first.url, key, "POST", "/v1/customers", {
        name: "Ada",
        email: "a@example.com",
      })
      const customer = created.body["id"]
      const record = (n: number) => ({
        customer_id: customer,
        product_id: "api",
        quantity: n,
        unit: "call",
        idempotency_key: `k${n}`,
      })

      const acknowledged = new Set<number>()
      let next = 1
      let isKilled = false
      const client = async () => {
        while (!isKilled) {
          const n = next++
          // Failed requests are a result of the kill. They were not acknowledged, so they may be stored or not.
          const answer = await Cli.call(first.url, key, "POST", "/v1/usage", record(n)).catch(() => undefined)
          if (answer?.status === 201) acknowledged.add(n)
          if (acknowledged.size === 200 && !isKilled) {
            isKilled = true
            process.kill(postgresPid("killed"), "SIGKILL")
            first.child.kill("SIGKILL")
          }
        }
      }
      await Promise.all(Array.from({ length: 8 }, client))
      await first.stop("SIGKILL")

      const second = await Cli.serve(store("killed"))
      try {
        assert.deepStrictEqual(second.keys, { test: "", live: "" }, "the keys are shown once")
        // All records are sent again. Acknowledged ones are already stored, and the others are stored now.
        for (const n of acknowledged) {
          const { status } = await Cli.call(second.url, key, "POST", "/v1/usage", record(n))
          assert.strictEqual(status, 200, `record ${n} was acknowledged and is gone`)
        }
        for (let n = 1; n < next; n++) await Cli.call(second.url, key, "POST", "/v1/usage", record(n))
        assert.strictEqual(await totalOf(second.url, key, customer), String(((next - 1) * next) / 2))
      } finally {
        assert.strictEqual(await second.stop(), 0)
      }

      const audit = await Cli.run(["audit", "usage", ...store("killed")])
      assert.strictEqual(
        audit.stdout,
        "live: every roll-up equals its records.\ntest: every roll-up equals its records.\n",
      )
      assert.strictEqual(audit.code, 0)
    },
  )

  it("is started again after it was killed, and its server continues", { timeout: TIMEOUT }, async () => {
    const server = await Cli.serve(store("killed"))
    const killed = postgresPid("killed")
    process.kill(killed, "SIGKILL")
    await until("another Postgres", async () => {
      const answer = await fetch(`${server.url}/readyz`)
      return answer.status === 200 && postgresPid("killed") !== killed
    })
    assert.match(server.stderr(), /the Postgres in \S+killed ended \(SIGKILL\) and is being restarted/)
    assert.strictEqual(await server.stop(), 0)
  })

  it("can't be used by a second server, which says so in one sentence", { timeout: TIMEOUT }, async () => {
    const first = await Cli.serve(store("busy"))
    try {
      const second = await Cli.run(["serve", "--port", "0", ...store("busy")])
      assert.strictEqual(second.code, 1)
      assert.strictEqual(second.stdout, "")
      assert.match(second.stderr, /^billwright: .* is in use by /m)
      assert.notInclude(second.stderr, "    at ")
    } finally {
      await first.stop()
    }
  })
})

describe("billwright migrate and keys", () => {
  it("migrates once, and then finds nothing to do", { timeout: TIMEOUT }, async () => {
    const first = await Cli.run(["migrate", ...store("keys")])
    assert.match(
      first.stdout,
      /^Applied to the schema billwright: [a-z_ ,]+\.\nWrote functions of the schema billwright: .*\brecord_usage\b.*\.\n$/,
    )
    const second = await Cli.run(["migrate", ...store("keys")])
    assert.strictEqual(second.stdout, "The schema billwright is up to date.\n")
  })

  it("prints SQL without a database", { timeout: TIMEOUT }, async () => {
    const { code, stderr, stdout } = await Cli.run(["migrate", "--print", "--schema", "metering"])
    assert.strictEqual(code, 0)
    assert.strictEqual(stderr, "")
    assert.match(stdout, /create schema if not exists "metering"/)
    assert.include(stdout, "create table metering.usage_records")
  })

  it("prints the SQL of roles, and makes none in an embedded Postgres", { timeout: TIMEOUT }, async () => {
    const printed = await Cli.run(["migrate", "--print", "--roles", "--schema", "metering"])
    assert.strictEqual(printed.code, 0)
    assert.include(printed.stdout, "create role metering_recorder nologin")
    assert.include(printed.stdout, "to metering_reader")
    const refused = await Cli.run(["migrate", "--roles", ...store("keys")])
    assert.strictEqual(refused.code, 1)
    assert.match(refused.stderr, /^billwright: --roles needs --store postgres: .*no superuser\n$/)
    const long = await Cli.run(["migrate", "--print", "--roles", "--schema", "s".repeat(55)])
    assert.strictEqual(long.code, 1)
    assert.match(long.stderr, /may have 54 characters/)
  })

  it("refuses to work on a schema that was not migrated", { timeout: TIMEOUT }, async () => {
    const { code, stderr } = await Cli.run([
      "keys",
      "list",
      "--mode",
      "test",
      ...store("keys"),
      "--schema",
      "other",
    ])
    assert.strictEqual(code, 1)
    assert.match(
      stderr,
      /^billwright: the schema "other" has no tables of Billwright yet. Run `npx @billwright\/cli migrate .* \(or with `--store embedded`\)$/m,
    )
  })

  it.each([
    ["keys", "rotate-encryption"],
    ["prune", "--older-than=90d"],
  ])(
    "refuse a directory without a database, and don't create one: %s %s",
    { timeout: TIMEOUT },
    async (...args) => {
      const { code, stderr } = await Cli.run([...args, ...store("mistyped")])
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /^billwright: there is no database in \S+mistyped: give its directory by --data-dir, or create one by /,
      )
      assert.isFalse(existsSync(join(cwd, "mistyped")))
    },
  )

  it("issues, lists, rolls and revokes keys", { timeout: TIMEOUT }, async () => {
    const keys = (...args: ReadonlyArray<string>) =>
      Cli.run(["keys", ...args, "--mode", "test", "--json", ...store("keys")])
    const parse = ({ stdout }: Cli.Finished) => JSON.parse(stdout) as Record<string, unknown>

    const issued = parse(
      await keys("issue", "--name", "reader", "--scope", "usage:read", "--scope", "customers:*"),
    )
    assert.match(String(issued["secret"]), /^sk_test_/)
    assert.deepStrictEqual(issued["scopes"], ["usage:read", "customers:*"])

    const rolled = parse(await keys("roll", String(issued["id"]), "--grace-hours", "1"))
    assert.notStrictEqual(rolled["secret"], issued["secret"])
    assert.deepStrictEqual(rolled["scopes"], issued["scopes"])

    const revoked = parse(await keys("revoke", String(rolled["id"])))
    assert.isString(revoked["revoked_at"])

    const listed = JSON.parse((await keys("list")).stdout) as ReadonlyArray<Record<string, unknown>>
    assert.deepStrictEqual(
      listed.map(({ id }) => id),
      [rolled["id"], issued["id"]],
    )
    assert.isTrue(listed.every((key) => !("secret" in key)))

    const unknown = await keys("revoke", "key_nothing")
    assert.strictEqual(unknown.code, 1)
    assert.strictEqual(unknown.stderr.split("\n").at(-2), "billwright: no API key has the id key_nothing")
  })

  it("fails without DATABASE_URL", { timeout: TIMEOUT }, async () => {
    const { code, stderr } = await Cli.run(["serve", "--store", "postgres"], {
      env: { DATABASE_URL: "", ...Cli.ENCRYPTION },
    })
    assert.strictEqual(code, 1)
    assert.match(stderr, /DATABASE_URL/)
    assert.notInclude(stderr, "    at ")
  })
})
