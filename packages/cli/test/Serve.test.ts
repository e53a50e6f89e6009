import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type AddressInfo, type Server } from "node:net"
import { text } from "node:stream/consumers"
import { promisify } from "node:util"
/**
 * `billwright serve` in memory: its output, how it stops, and its errors when it can't start.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { bin, call, run } from "./Cli.ts"

const KEY = (mode: string) => new RegExp(`^${mode} key {2}(sk_${mode}_[0-9A-Za-z]{38})$`)

interface Running {
  /** The text that it had printed when it was ready. */
  readonly lines: ReadonlyArray<string>
  readonly url: string
  readonly port: number
  readonly keyOf: (mode: "test" | "live") => string
  /** Sends a signal. Returns how the process ended and everything that it printed. */
  readonly stop: (signal: NodeJS.Signals) => Promise<{
    readonly code: number | null
    readonly signal: NodeJS.Signals | null
    readonly stdout: string
    readonly stderr: string
  }>
}

const children = new Set<ChildProcess>()
// Ends the servers of tests that failed before they stopped them.
afterAll(() => children.forEach((child) => child.kill("SIGKILL")))

/** Starts a server in memory. It is ready when it has printed its last line, the address of the reference. */
const serve = async (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
): Promise<Running> => {
  const child = spawn(process.execPath, [bin, "serve", "--store", "memory", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  })
  children.add(child)
  const closed = once(child, "close")
  const stderr = text(child.stderr)
  let stdout = ""
  child.stdout.setEncoding("utf8")
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: string) => {
      stdout += chunk
      if (/^API reference: .*\n$/m.test(stdout)) resolve()
    })
    child.once("close", () => resolve())
  })
  const lines = stdout.split("\n")
  const url = /^Billwright listening on (\S+)$/.exec(lines[0] ?? "")?.[1] ?? ""
  return {
    lines,
    url,
    port: Number(url.split(":").at(-1)),
    keyOf: (mode) => {
      const key = lines.flatMap((line) => KEY(mode).exec(line)?.[1] ?? [])
      assert.lengthOf(key, 1)
      return key[0] ?? ""
    },
    stop: async (signal) => {
      child.kill(signal)
      await closed
      return { code: child.exitCode, signal: child.signalCode, stdout, stderr: await stderr }
    },
  }
}

const listen = async (port: number): Promise<Server> => {
  const server = createServer().listen(port, "127.0.0.1")
  await once(server, "listening")
  return server
}

const close = async (server: Server): Promise<void> => {
  server.close()
  await once(server, "close")
}

/** A port that was free a moment ago. */
const freePort = async (): Promise<number> => {
  const server = await listen(0)
  const { port } = server.address() as AddressInfo
  await close(server)
  return port
}

describe.concurrent("billwright serve --store memory", () => {
  it("prints its address in one line, both keys once, and a request that works unchanged", async () => {
    const server = await serve(["--port", "0"])
    assert.match(server.lines[0] ?? "", /^Billwright listening on http:\/\/127\.0\.0\.1:\d+$/)
    assert.lengthOf(
      server.lines.filter((line) => line.includes("listening")),
      1,
    )
    const [test, live] = [server.keyOf("test"), server.keyOf("live")]
    assert.notInclude(test, live.slice("sk_live_".length))

    const first = server.lines.findIndex((line) => line.trimStart().startsWith("curl "))
    const last = server.lines.findIndex((line, index) => index >= first && !line.endsWith("\\"))
    const command = server.lines.slice(first, last + 1).join("\n")
    const { stdout } = await promisify(execFile)("sh", ["-c", command])
    const customer = JSON.parse(stdout) as Record<string, unknown>
    assert.include(customer, { object: "customer", name: "Ada Lovelace", livemode: false })

    const listed = await call(server.url, test, "GET", "/v1/customers")
    assert.deepStrictEqual(listed.body["data"], [customer])
    const empty = await call(server.url, live, "GET", "/v1/customers")
    assert.deepStrictEqual(empty.body["data"], [])
    const reference = server.lines
      .find((line) => line.startsWith("API reference: "))
      ?.slice("API reference: ".length)
    assert.strictEqual((await fetch(reference ?? "")).status, 200)

    const { stderr, stdout: all } = await server.stop("SIGTERM")
    assert.strictEqual(stderr, "")
    // The live key is printed once. The test key is printed again in the request.
    assert.lengthOf(all.split(live), 2)
    assert.lengthOf(all.split(test), 3)
  })

  it("serves the dashboard (or says that it is not built) at / and deep links, and the API at /v1", async () => {
    const server = await serve(["--port", "0"])
    // A clean clone has no dashboard before `npm start` or a build.
    const isBuilt = (await fetch(`${server.url}/`)).status === 200
    for (const path of ["/", "/events", `/events/evt_${"0".repeat(26)}`]) {
      const response = await fetch(`${server.url}${path}`)
      const page = await response.text()
      assert.strictEqual(response.status, isBuilt ? 200 : 503, path)
      assert.strictEqual(
        response.headers.get("content-type"),
        `text/${isBuilt ? "html" : "plain"}; charset=utf-8`,
        path,
      )
      assert.include(response.headers.get("content-security-policy") ?? "", "script-src 'self';", path)
      assert.include(page, isBuilt ? "<!doctype html>" : "The dashboard is not built: npm run build.", path)
    }
    const unauthorized = await call(server.url, "nobody", "GET", "/v1/events")
    assert.deepInclude(unauthorized, { status: 401 })
    assert.hasAllKeys(unauthorized.body, ["error", "message"])
    const missing = await call(server.url, server.keyOf("test"), "GET", "/v1/nothing")
    assert.deepInclude(missing, { status: 404 })
    assert.hasAllKeys(missing.body, ["error", "message"])
    assert.deepInclude(await server.stop("SIGTERM"), { code: 0, stderr: "" })
  })

  it.each(["SIGTERM", "SIGINT"] as const)(
    "stops on %s with exit code 0 and frees its port",
    async (signal) => {
      const server = await serve(["--port", "0"])
      // A kept-alive connection doesn't delay the stop.
      assert.strictEqual((await fetch(`${server.url}/livez`)).status, 200)
      const ended = await server.stop(signal)
      assert.deepInclude(ended, { code: 0, signal: null, stderr: "" })
      await close(await listen(server.port))
    },
  )

  it("uses the port of PORT, unless --port is given", async () => {
    const [a, b] = [await freePort(), await freePort()]
    const fromEnvironment = await serve([], { PORT: String(a) })
    assert.strictEqual(fromEnvironment.url, `http://127.0.0.1:${a}`)
    const fromFlag = await serve(["--port", String(b)], { PORT: String(a) })
    assert.strictEqual(fromFlag.url, `http://127.0.0.1:${b}`)
    assert.deepInclude(await fromEnvironment.stop("SIGTERM"), { code: 0 })
    assert.deepInclude(await fromFlag.stop("SIGTERM"), { code: 0 })
  })

  it("listens on the address of --host", async () => {
    const server = await serve(["--port", "0", "--host", "0.0.0.0"])
    assert.match(server.url, /^http:\/\/0\.0\.0\.0:\d+$/)
    assert.strictEqual((await fetch(`http://127.0.0.1:${server.port}/livez`)).status, 200)
    await server.stop("SIGTERM")
  })
})

describe.concurrent("billwright serve that can't start", () => {
  const memory = ["serve", "--store", "memory"]

  it("says in one sentence that the port is in use, with exit code 1", async () => {
    const blocker = await listen(0)
    const { port } = blocker.address() as AddressInfo
    const { code, stderr, stdout } = await run([...memory, "--port", String(port)])
    await close(blocker)
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr, `billwright: 127.0.0.1:${port} is in use by another program\n`)
    assert.strictEqual(stdout, "")
  })

  it("says that the host is not an address of this machine", async () => {
    const { code, stderr } = await run([...memory, "--port", "0", "--host", "192.0.2.1"])
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr, "billwright: 192.0.2.1 is not an address of this machine\n")
  })

  it.each([
    [["--port", "65536"], "port"],
    [["--port", "-1"], "port"],
    [["--port", "http"], "port"],
    [["--prot", "80"], "--prot"],
    [["--store", "floppy"], "store"],
  ])("refuses %j with the name of the flag, without a stack", async (args, name) => {
    const { code, stderr, stdout } = await run([...memory, ...args])
    assert.strictEqual(code, 1)
    assert.include(stderr, name)
    assert.notMatch(stdout + stderr, /^\s+at .*:\d+/m)
    assert.notInclude(stdout, "listening")
  })

  it.each(["http", "65536"])("says that PORT is no port: %s", async (port) => {
    const { code, stderr, stdout } = await run(memory, { env: { PORT: port } })
    assert.strictEqual(code, 1)
    assert.include(stderr, "PORT")
    assert.notMatch(stdout + stderr, /^\s+at .*:\d+/m)
  })
})

describe.concurrent("help", () => {
  it.each([
    [["--help"], "serve"],
    [["serve", "--help"], "--port"],
  ])("billwright %s mentions its flags or commands", async (args, mentions) => {
    const { code, stderr, stdout } = await run(args)
    assert.strictEqual(code, 0)
    assert.include(stdout, mentions)
    assert.strictEqual(stderr, "")
  })

  it("--version prints the version", async () => {
    const { code, stdout } = await run(["--version"])
    assert.strictEqual(code, 0)
    assert.match(stdout, /\d+\.\d+\.\d+/)
  })
})
