/**
 * Other people's fakes of Stripe, as processes of this machine. They are installed from the registries of their languages,
 * in pinned versions.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const STRIPE_MOCK = "github.com/stripe/stripe-mock@v0.203.0"

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024
/** How often a new process is asked whether it answers, and how long it waits in between. */
const ASKS = 300
const ASK_MILLIS = 100

const run = promisify(execFile)

const works = (program: string, ...question: ReadonlyArray<string>): boolean => {
  try {
    execFileSync(program, question, { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** What a test says when its judge can't run here. `undefined`: it can. */
export const missing = {
  go: works("go", "version") ? undefined : "Go is missing",
  python: works("python3", "-c", "import sys, venv; sys.exit(sys.version_info < (3, 10))")
    ? undefined
    : "Python 3.10 is missing",
  key: process.env["STRIPE_TEST_KEY"] === undefined ? "STRIPE_TEST_KEY is not set" : undefined,
}

/** ` (skipped: …)` behind the title of a test. */
export const because = (reason: string | undefined): string =>
  reason === undefined ? "" : ` (skipped: ${reason})`

/** A directory for what is installed, which is removed in the end. */
export const makeDirectory = async () => {
  const directory = await mkdtemp(join(tmpdir(), "billwright-judges-"))
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** A process that answers HTTP on a port. */
export interface Judge {
  readonly port: number
  readonly stop: () => Promise<void>
}

const answers = async (child: ChildProcess, port: number): Promise<void> => {
  for (let asked = 0; asked < ASKS && child.exitCode === null; asked += 1) {
    const isThere = await fetch(`http://127.0.0.1:${port}/`).then(
      async (response) => (await response.arrayBuffer(), true),
      () => false,
    )
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, ASK_MILLIS))
  }
  throw new Error(`${child.spawnfile} does not answer`)
}

const start = async (program: string, args: (port: number) => ReadonlyArray<string>): Promise<Judge> => {
  const port = await freePort()
  const child = spawn(program, args(port), { stdio: "ignore" })
  await answers(child, port)
  return {
    port,
    stop: async () => {
      const ended = once(child, "exit")
      child.kill()
      await ended
    },
  }
}

/** Stripe's own mock. It refuses wrong parameters, and keeps no state. `document`: its OpenAPI document. */
export const stripeMock = async (directory: string): Promise<Judge & { readonly document: string }> => {
  const env = { ...process.env, GOBIN: directory, GOFLAGS: "" }
  await run("go", ["install", STRIPE_MOCK], { env, cwd: directory, maxBuffer: MAX_OUTPUT_BYTES })
  const { stdout } = await run("go", ["mod", "download", "-json", STRIPE_MOCK], { env, cwd: directory })
  const { Dir: sources } = JSON.parse(stdout) as { readonly Dir: string }
  const judge = await start(join(directory, "stripe-mock"), (port) => ["-http-addr", `127.0.0.1:${port}`])
  return { ...judge, document: join(sources, "embedded", "openapi", "spec3.json") }
}

/** localstripe: it has declines, 3-D Secure and refunds, and no idempotency keys. */
export const localstripe = async (directory: string): Promise<Judge> => {
  await run("python3", ["-m", "venv", "python"], { cwd: directory })
  const bin = join(directory, "python", "bin")
  const requirements = join(import.meta.dirname, "requirements.txt")
  await run(join(bin, "python"), ["-m", "pip", "install", "-q", "-r", requirements], {
    cwd: directory,
    maxBuffer: MAX_OUTPUT_BYTES,
  })
  return start(join(bin, "localstripe"), (port) => ["--port", String(port), "--from-scratch"])
}
