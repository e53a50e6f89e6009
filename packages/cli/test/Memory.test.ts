/**
 * What keeps the memory of `billwright serve` small: what it loads, and what it sets of V8. From sources, because the names of
 * modules are lost in a bundle.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const TIMEOUT = 60_000
const source = join(import.meta.dirname, "../src/bin.ts")
const settings = join(import.meta.dirname, "../src/V8Settings.ts")

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

/** Runs a command until it ends, or stops it when it prints the text. */
const watched = async (args: ReadonlyArray<string>, until?: string): Promise<Report> => {
  const watch = `data:text/javascript,${encodeURIComponent(WATCH)}`
  const child = spawn(process.execPath, ["--import", watch, source, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  })
  const stderr = text(child.stderr)
  child.stdout.setEncoding("utf8")
  child.stdout.on("data", (chunk: string) => {
    if (until !== undefined && chunk.includes(until)) child.kill("SIGTERM")
  })
  return JSON.parse(await stderr) as Report
}

/** Works until the space for new objects may grow, then waits until it may not, and ends. */
const BUSY = `
import v8 from "node:v8"
import { syncBuiltinESMExports } from "node:module"
let factor = ""
const set = v8.setFlagsFromString
v8.setFlagsFromString = (flag) => ((factor = /growth-factor=(.+)/.exec(flag)?.[1] ?? factor), set(flag))
syncBuiltinESMExports()
const { start, work } = await import(${JSON.stringify(pathToFileURL(settings).href)})
start()
const factors = [factor]
work()
const waits = setInterval(() => {}, 1000)
const end = () => {
  if (factor === "16") return setTimeout(end)
  clearInterval(waits)
  console.log(JSON.stringify([...factors, factor]))
}
const spin = () => {
  if (factor !== "16") return setImmediate(spin)
  factors.push(factor)
  end()
}
spin()
`

/** The flags of V8 that are off in the end. */
const offIn = ({ flags }: Report): ReadonlyArray<string> =>
  flags.filter((flag, index) => {
    const name = /^--no-(\w+)$/.exec(flag)?.[1]
    return name !== undefined && !flags.slice(index).includes(`--${name}`)
  })

describe("the memory of a process", () => {
  it("a server loads no client of HTTP and no other command", { timeout: TIMEOUT }, async () => {
    const report = await watched(["serve", "--store", "memory", "--port", "0"], "API reference")
    const isLoaded = (part: string) => report.modules.some((url) => url.includes(part))
    assert.isTrue(isLoaded("/cli/src/Serve.ts"))
    const unneeded = ["/undici/", "/cli/src/Billwright.ts", "/cli/src/ApiClient.ts", "/cli/src/demo/"]
    assert.deepStrictEqual(unneeded.filter(isLoaded), [])
    assert.include(report.flags, "--no-opt")
    assert.deepStrictEqual(offIn(report), [])
  })

  it("another command has all compilers of V8", { timeout: TIMEOUT }, async () => {
    const report = await watched(["--version"])
    assert.include(report.flags, "--no-opt")
    assert.deepStrictEqual(offIn(report), [])
  })

  it(
    "the space for new objects grows while a process is busy, and at no other time",
    { timeout: TIMEOUT },
    async () => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", BUSY], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      assert.deepStrictEqual(JSON.parse(await text(child.stdout)), ["1", "16", "1"])
    },
  )
})
