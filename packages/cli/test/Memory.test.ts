/**
 * What keeps the memory of `billwright serve` small: what it loads, and what it sets of V8. From sources, because the names of
 * modules are lost in a bundle.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { assert, describe, it } from "@effect/vitest"

const TIMEOUT = 60_000
const source = join(import.meta.dirname, "../src/bin.ts")

/** Runs in the process before the command. Prints what was loaded and set when the process ends. */
const WATCH = `
import { registerHooks, syncBuiltinESMExports } from "node:module"
import v8 from "node:v8"
const modules = []
registerHooks({ load: (url, context, next) => (modules.push(url), next(url, context)) })
const flags = []
const set = v8.setFlagsFromString
v8.setFlagsFromString = (flag) => (flags.push(flag), set(flag))
syncBuiltinESMExports()
process.on("exit", () => process.stderr.write(JSON.stringify({ modules, flags })))
`

interface Report {
  readonly modules: ReadonlyArray<string>
  readonly flags: ReadonlyArray<string>
}

/** Runs a command, and stops it when it prints the text. */
const watched = async (args: ReadonlyArray<string>, until: string): Promise<Report> => {
  const watch = `data:text/javascript,${encodeURIComponent(WATCH)}`
  const child = spawn(process.execPath, ["--import", watch, source, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  })
  const stderr = text(child.stderr)
  child.stdout.setEncoding("utf8")
  child.stdout.on("data", (chunk: string) => {
    if (chunk.includes(until)) child.kill("SIGTERM")
  })
  return JSON.parse(await stderr) as Report
}

/** Nothing is compiled, and the space for new objects stays small, until the end of the start. */
const SETTINGS =
  "--semi-space-growth-factor=1 --no-sparkplug --no-maglev --no-opt --semi-space-growth-factor=2 --sparkplug --maglev --opt"

describe("the memory of a process", () => {
  it("a server loads no client of HTTP and no other command", { timeout: TIMEOUT }, async () => {
    const report = await watched(["serve", "--store", "memory", "--port", "0"], "API reference")
    const isLoaded = (part: string) => report.modules.some((url) => url.includes(part))
    assert.isTrue(isLoaded("/cli/src/Serve.ts"))
    const unneeded = ["/undici/", "/cli/src/Billwright.ts", "/cli/src/ApiClient.ts", "/cli/src/demo/"]
    assert.deepStrictEqual(unneeded.filter(isLoaded), [])
    assert.strictEqual(report.flags.join(" "), SETTINGS)
  })

  it(
    "another command has the settings of V8 that it would have without ours",
    { timeout: TIMEOUT },
    async () => {
      const report = await watched(["--version"], "billwright")
      assert.strictEqual(report.flags.join(" "), SETTINGS)
    },
  )
})
