import { createCipheriv, randomBytes } from "node:crypto"
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * Where `billwright` gets the keys that encrypt webhook secrets, and commands that run while a server with an embedded
 * Postgres runs.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"
import { isVerified, Receiver } from "./Receiver.ts"
import { Tenant } from "./Tenant.ts"

const TIMEOUT = 60_000
const KEY_LINE = /^key_[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n$/

const directory = mkdtempSync(join(tmpdir(), "billwright-encryption-"))
const data = join(directory, "data")
const keyFile = join(data, "encryption.keys")
const store = ["--store", "embedded", "--data-dir", data]
const receiver = new Receiver()
let server: Cli.Serving

beforeAll(async () => {
  chmodSync(directory, 0o755)
  await receiver.start()
  server = await Cli.serve(store)
}, TIMEOUT)

afterAll(async () => {
  await server.stop()
  await receiver.stop()
  rmSync(directory, { recursive: true, force: true })
}, TIMEOUT)

describe("an embedded store", () => {
  it(
    "creates a key file once, readable only by its owner, and uses it again",
    { timeout: TIMEOUT },
    async () => {
      const file = readFileSync(keyFile, "utf8")
      assert.match(file, KEY_LINE)
      assert.strictEqual(statSync(keyFile).mode & 0o777, 0o600)
      const { keys } = server
      const { secret } = await new Tenant(server.url, keys.test).endpoint(receiver.url("/"))
      assert.strictEqual(await server.stop(), 0)

      server = { ...(await Cli.serve(store)), keys }
      assert.strictEqual(readFileSync(keyFile, "utf8"), file)
      await new Tenant(server.url, keys.test).publish()
      assert.isTrue(await isVerified(await receiver.next("/", 1), secret))
      // The output contains no key and no secret.
      const printed = server.stdout() + server.stderr()
      assert.notInclude(printed, file.split(":")[1]!.trim())
      assert.notInclude(printed, secret)
    },
  )

  it("can be used by commands while a server uses it", { timeout: TIMEOUT }, async () => {
    const issued = await Cli.run(["keys", "issue", "--mode", "test", "--name", "beside", "--json", ...store])
    assert.strictEqual(issued.code, 0, issued.stderr)
    const { secret } = JSON.parse(issued.stdout) as { readonly secret: string }
    const answer = await Cli.call(server.url, secret, "GET", "/v1/customers")
    assert.strictEqual(answer.status, 200)

    const others = await Promise.all([
      Cli.run(["audit", "usage", ...store]),
      Cli.run(["migrate", ...store]),
      Cli.run(["keys", "list", "--mode", "test", ...store]),
    ])
    assert.deepStrictEqual(
      others.map(({ code }) => code),
      [0, 0, 0],
    )
    // The command used the Postgres of the server and left it running.
    for (const { stderr } of others) assert.notInclude(stderr, "starting Postgres")
    assert.strictEqual((await fetch(`${server.url}/readyz`)).status, 200)
  })

  it("uses a new key that is put before the old one", { timeout: TIMEOUT }, async () => {
    const { stdout: key } = await Cli.run(["keys", "new-encryption-key"])
    assert.match(key, KEY_LINE)
    writeFileSync(keyFile, key + readFileSync(keyFile, "utf8"))
    const rotate = () => Cli.run(["keys", "rotate-encryption", "--json", ...store])
    assert.deepInclude(await rotate(), { code: 0, stdout: '{"endpoints":1}\n' })
    assert.deepInclude(await rotate(), { code: 0, stdout: '{"endpoints":0}\n' })
  })

  it("refuses a key file that others may read", { timeout: TIMEOUT }, async () => {
    chmodSync(keyFile, 0o644)
    const { code, stderr } = await Cli.run(["keys", "rotate-encryption", ...store])
    chmodSync(keyFile, 0o600)
    assert.strictEqual(code, 1)
    assert.match(stderr, /^billwright: the key file .* may be read by others/m)
  })
})

/** A program that decrypts keys of a service whose own key is in a file. Its key id is bound to what it decrypts. */
const KEY_PROGRAM = `#!${process.execPath}
const { createDecipheriv } = require("node:crypto")
const { readFileSync } = require("node:fs")
const wrapped = Buffer.from(readFileSync(0, "utf8"), "base64")
const decipher = createDecipheriv("aes-256-gcm", readFileSync(__dirname + "/master"), wrapped.subarray(0, 12))
decipher.setAAD(Buffer.from(process.argv[2])).setAuthTag(wrapped.subarray(12, 28))
console.log(Buffer.concat([decipher.update(wrapped.subarray(28)), decipher.final()]).toString("base64"))
`

describe("keys that a key management service has encrypted", () => {
  const path = (name: string) => join(directory, name)
  const program = (name: string, text: string) => {
    writeFileSync(path(name), text, { mode: 0o755 })
    return path(name)
  }
  const wrap = (key: string, keyId: string): string => {
    const [iv, master] = [randomBytes(12), readFileSync(path("master"))]
    const cipher = createCipheriv("aes-256-gcm", master, iv).setAAD(Buffer.from(keyId))
    const sealed = Buffer.concat([cipher.update(Buffer.from(key, "base64")), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64")
  }
  const rotate = (keys: string, command: string) =>
    Cli.run(["keys", "rotate-encryption", "--json", ...store], {
      env: { BILLWRIGHT_ENCRYPTION_KEYS: keys, BILLWRIGHT_KEY_COMMAND: command },
    })

  it("are decrypted by the program of BILLWRIGHT_KEY_COMMAND", { timeout: TIMEOUT }, async () => {
    writeFileSync(path("master"), randomBytes(32))
    const command = program("decrypt.cjs", KEY_PROGRAM)
    const own = readFileSync(keyFile, "utf8").trim().split("\n")
    const wrapped = `kms1:wrapped:${wrap(randomBytes(32).toString("base64"), "kms1")}`
    // The new key comes from the service, those of the file are behind it. Then back again.
    const there = [wrapped, ...own].join(",")
    assert.deepInclude(await rotate(there, command), { code: 0, stdout: '{"endpoints":1}\n' })
    assert.deepInclude(await rotate(there, command), { code: 0, stdout: '{"endpoints":0}\n' })
    assert.deepInclude(await rotate([...own, wrapped].join(","), command), {
      code: 0,
      stdout: '{"endpoints":1}\n',
    })
  })

  it.each([
    [
      "fails.sh",
      "#!/bin/sh\necho no access >&2\nexit 3\n",
      /"kms1": BILLWRIGHT_KEY_COMMAND: it ended with the status 3$/m,
    ],
    ["prints.sh", "#!/bin/sh\necho hello, world\n", /it must print the key in base64, and nothing else$/m],
    ["short.sh", "#!/bin/sh\necho AAAA\n", /it did not answer 32 bytes$/m],
    ["floods.sh", "#!/bin/sh\nexec yes\n", /it printed more than 1024 bytes$/m],
  ])("stop a command when %s gives none", { timeout: TIMEOUT }, async (name, text, sentence) => {
    const { code, stderr, stdout } = await rotate("kms1:wrapped:AAAA", program(name, text))
    assert.strictEqual(code, 1)
    assert.match(stderr, /^billwright: the key management service did not decrypt the key "kms1"/m)
    assert.match(stderr, sentence)
    assert.strictEqual(stdout, "")
  })

  it("stop a command when the program is missing, or none is set", { timeout: TIMEOUT }, async () => {
    assert.match((await rotate("kms1:wrapped:AAAA", path("none"))).stderr, /"kms1": .*ENOENT/)
    assert.match((await rotate("kms1:wrapped:AAAA", "")).stderr, /"kms1" is wrapped, and no key/)
  })
})

describe.concurrent("billwright serve", () => {
  const url = "postgres://nobody@127.0.0.1:2/none"

  it.each([
    [
      ["--store", "postgres"],
      {},
      /^billwright: --store postgres needs keys .*billwright keys new-encryption-key/,
    ],
    [
      ["--store", "memory"],
      { BILLWRIGHT_ENCRYPTION_KEYS: "key" },
      /^billwright: the encryption keys are not valid/,
    ],
    [
      ["--store", "memory", "--dispatch-only"],
      {},
      /--dispatch-only is for workers that share a Postgres with servers/,
    ],
    [["--store", "postgres", "--dispatch-only", "--no-dispatch"], {}, /can.t be used together/],
    [
      ["--store", "postgres", "--dispatch-only"],
      {},
      /--dispatch-only and --port can't be used together: a worker serves no API/,
    ],
    [["--store", "memory", "--lease-seconds", "15"], {}, /--lease-seconds \(15\) must be more than/],
    [
      ["--store", "memory", "--lease-seconds", "20", "--attempt-seconds", "20"],
      {},
      /--lease-seconds \(20\) must be more than --attempt-seconds \(20\)/,
    ],
    [["--store", "memory", "--max-in-flight", "0"], {}, /max-in-flight/],
    [["--store", "memory", "--webhook-allow", "10.0.0.1/8"], {}, /must be networks such as .*10\.0\.0\.1\/8/],
    [
      ["--store", "memory", "--webhook-allow", "10.0.0.0/8,169.254.169.254/32"],
      {},
      /billwright: --webhook-allow must not be 169\.254\.169\.254\/32: it is the address of a cloud's metadata service/,
    ],
    [["--store", "memory"], { BILLWRIGHT_WEBHOOK_ALLOW: "intranet" }, /must be networks such as .*intranet/],
    [
      ["--store", "memory", "--verify-endpoints", "https://billing.example.com"],
      {},
      /must be a host name that stands for the sender, such as billing\.example\.com\. It is https:/,
    ],
    [
      ["--store", "memory", "--webhook-proxy", "proxy.example:3128"],
      {},
      /^billwright: --webhook-proxy \(or BILLWRIGHT_WEBHOOK_PROXY\) must be the URL of an HTTP proxy/,
    ],
    [
      ["--store", "memory", "--webhook-proxy", "http://ada:word@proxy.example:3128"],
      {},
      /^billwright: --webhook-proxy must not have a user name and password(?!.*:word@)/,
    ],
    [
      ["--store", "memory"],
      { BILLWRIGHT_WEBHOOK_PROXY: "http://ada:word@proxy.example:3128/path" },
      /^billwright: --webhook-proxy \(or BILLWRIGHT_WEBHOOK_PROXY\) must have nothing after host and port(?!.*:word@)/,
    ],
  ])("refuses %j with the environment %j", { timeout: TIMEOUT }, async (args, more, sentence) => {
    const none = { DATABASE_URL: url, BILLWRIGHT_ENCRYPTION_KEYS: "" }
    const { code, stderr, stdout } = await Cli.runHere(["serve", "--port", "0", ...args], {
      env: { ...none, ...more },
    })
    assert.strictEqual(code, 1)
    assert.match(stderr, sentence)
    assert.notMatch(stdout + stderr, /^\s+at .*:\d+/m)
    assert.notInclude(stdout, "listening")
  })

  it("starts without encryption keys with --allow-plaintext-secrets", { timeout: TIMEOUT }, async () => {
    const { stderr } = await Cli.run(["serve", "--store", "postgres", "--allow-plaintext-secrets"], {
      env: { DATABASE_URL: url, BILLWRIGHT_ENCRYPTION_KEYS: "" },
    })
    // It got past the check of the keys: the error is about the database, which doesn't run.
    assert.notInclude(stderr, "needs keys")
  })

  it("accepts live endpoints in the networks of --webhook-allow", { timeout: TIMEOUT }, async () => {
    const open = await Cli.serve(["--store", "memory", "--webhook-allow", "127.0.0.0/8"])
    const closed = await Cli.serve(["--store", "memory"])
    const create = ({ keys, url: at }: Cli.Serving) =>
      Cli.call(at, keys.live, "POST", "/v1/webhook_endpoints", {
        url: "https://127.0.0.1:8443/hooks",
        event_types: ["*"],
      })
    assert.strictEqual((await create(open)).status, 201)
    assert.strictEqual((await create(closed)).status, 400)
    await Promise.all([open.stop(), closed.stop()])
  })

  it(
    "sends nothing to its own machine without --allow-loopback, and prints a line with it",
    { timeout: TIMEOUT },
    async () => {
      const [open, closed] = await Promise.all([
        Cli.serve(["--store", "memory"]),
        Cli.serve(["--store", "memory", "--no-allow-loopback"]),
      ])
      const create = ({ keys, url: at }: Cli.Serving, host: string) =>
        Cli.call(at, keys.test, "POST", "/v1/webhook_endpoints", {
          url: `http://${host}:3000/hooks`,
          event_types: ["*"],
        })
      for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
        assert.strictEqual((await create(open, host)).status, 201, host)
        const { body, status } = await create(closed, host)
        assert.strictEqual(status, 400, host)
        assert.include(body["message"], "--allow-loopback of billwright serve")
      }
      for (const host of ["169.254.169.254", "168.63.129.16", "metadata.google.internal"]) {
        assert.strictEqual((await create(open, host)).status, 400, host)
      }
      assert.include(
        open.stdout(),
        "Loopback:      open to webhooks of test mode, for trials (--allow-loopback)",
      )
      assert.notInclude(closed.stdout(), "Loopback")
      await Promise.all([open.stop(), closed.stop()])
    },
  )
})
