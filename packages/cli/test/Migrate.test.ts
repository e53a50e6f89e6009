/**
 * `migrate --roles`, and commands of logins that have the rights of one role.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"
import { Installation, TIMEOUT } from "./Installation.ts"

const installation = new Installation()
beforeAll(() => installation.start(), TIMEOUT)
afterAll(() => installation.stop(), TIMEOUT)

const STORE = ["--store", "postgres", "--schema", "metering"]

const as = (login: string, args: ReadonlyArray<string>) => {
  const url = new URL(installation.env["DATABASE_URL"]!)
  url.username = login
  url.password = login
  return Cli.runHere([...args, ...STORE], { env: { ...installation.env, DATABASE_URL: url.href } })
}

describe("a database that doesn't exist", () => {
  it.each([["serve", "--port", "0"], ["migrate"], ["keys", "list", "--mode", "test"]])(
    "is named, with what to do: %s",
    { timeout: TIMEOUT },
    async (...args) => {
      const url = new URL(installation.env["DATABASE_URL"]!)
      url.pathname = "/nowhere"
      const env = { ...installation.env, DATABASE_URL: url.href }
      const { code, stderr } = await Cli.runHere([...args, ...STORE], { env })
      assert.strictEqual(code, 1)
      assert.strictEqual(
        stderr,
        'billwright: there is no database with this name (database "nowhere" does not exist): create it, or correct the name in DATABASE_URL\n',
      )
    },
  )
})

describe("billwright migrate --roles", () => {
  it("makes roles, says what they are for, and keeps to them", { timeout: TIMEOUT }, async () => {
    await installation.sql(
      "create role deployer login createrole password 'deployer'",
      "create role guest login password 'guest'",
      "grant create on database billwright to deployer, guest",
    )
    const refused = await as("guest", ["migrate", "--roles"])
    assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
    assert.match(refused.stderr, /permission denied to create role/)

    const made = await as("deployer", ["migrate", "--roles"])
    assert.strictEqual(made.code, 0, made.stderr)
    assert.match(made.stdout, /^Applied to the schema metering: /)
    for (const kind of ["owner", "app", "reader", "recorder"])
      assert.include(made.stdout, `  metering_${kind}  `)
    assert.include(made.stdout, "grant metering_app to shop;")

    await installation.sql("create role shop login password 'shop'", "grant metering_app to shop")
    const issue = ["keys", "issue", "--mode", "test", "--name", "trial"]
    assert.strictEqual((await as("shop", issue)).code, 1)
    assert.strictEqual((await as("deployer", issue)).code, 0)
    const listed = await as("shop", ["keys", "list", "--mode", "test"])
    assert.include(listed.stdout, "trial")
    assert.strictEqual((await as("shop", ["migrate"])).stdout, "The schema metering is up to date.\n")
    const secured = await as("deployer", ["migrate", "--roles", "--row-level-security", "on"])
    assert.match(secured.stdout, /^The schema metering is up to date\.\nRoles, /)
    assert.include((await as("shop", ["keys", "list", "--mode", "test"])).stdout, "trial")
    const audited = await as("shop", ["audit", "usage"])
    assert.strictEqual(audited.code, 0, audited.stderr)
    const off = await as("deployer", ["migrate", "--row-level-security", "off"])
    assert.strictEqual(off.stderr, "billwright: --row-level-security needs --roles\n")
    const again = await as("shop", ["migrate", "--roles"])
    assert.deepStrictEqual([again.code, again.stdout], [1, ""])
  })
})
