import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
/**
 * The README is true: its tour runs as printed against the server that `npm start` starts, and its TypeScript
 * prints what it says.
 */
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"

const root = join(import.meta.dirname, "..")
const readme = readFileSync(join(root, "README.md"), "utf8")
const node = process.execPath

const blocks = (text: string, language: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    (match) => match[1] ?? "",
  )

const tour = readme.slice(readme.indexOf("## A tour"), readme.indexOf("## In your own process"))

/** Ids and the moment of a run differ, and the README has room; everything else must be as printed. */
const settle = (json: string): string =>
  json
    .replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1")
    .replace(/\b(cus|usg)_[0-9a-z]{26}\b/g, "$1_…")
    .replace(/"(created_at|updated_at)":"[^"]*"/g, '"$1":"…"')

const startServer = async () => {
  const args = [join(root, "packages/cli/src/bin.ts"), "serve", "--port", "0", "--store", "memory"]
  const child = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"] })
  let url = ""
  let key = ""
  for await (const line of createInterface({ input: child.stdout })) {
    url = /listening on (\S+)/.exec(line)?.[1] ?? url
    key = /test key {2}(\S+)/.exec(line)?.[1] ?? key
    if (url !== "" && key !== "") break
  }
  return { child, url, key }
}

const startPostgres = async () => {
  const directory = mkdtempSync(join(tmpdir(), "billwright-readme-"))
  const scope = Scope.makeUnsafe()
  const { url } = await Effect.runPromise(Scope.provide(EmbeddedPostgres.start({ directory }), scope))
  return {
    url: Redacted.value(url),
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

describe("README.md", () => {
  it("has a tour that runs as printed", async () => {
    const { child, key, url } = await startServer()
    try {
      const [setUp = "", ...commands] = blocks(tour, "sh")
      const mine = setUp
        .replace("the test key that npm start printed", key)
        .replace("http://127.0.0.1:4100", url)
      assert.notInclude(mine, ":4100")
      const run = spawnSync("bash", ["-euc", [mine, ...commands].join("\necho\n")], { encoding: "utf8" })
      assert.strictEqual(run.stderr, "")
      const answers = run.stdout.split("\n").filter((line) => line.startsWith("{"))
      assert.deepStrictEqual(answers.map(settle), blocks(tour, "json").map(settle))
    } finally {
      child.kill("SIGTERM")
      await once(child, "exit")
    }
  })

  for (const [index, code] of blocks(readme, "ts").entries()) {
    it(`has TypeScript that does what it says (${index + 1})`, { timeout: 30_000 }, async () => {
      const server = code.includes("DATABASE_URL") ? await startPostgres() : undefined
      // Inside the workspace, so that the packages are found.
      const folder = mkdtempSync(join(root, "scripts", ".readme-"))
      try {
        const file = join(folder, "example.ts")
        writeFileSync(file, code)
        const env = { ...process.env, DATABASE_URL: server?.url }
        const run = spawnSync(node, [file], { encoding: "utf8", env })
        assert.strictEqual(run.stderr, "")
        const expected = [...code.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1])
        assert.isAtLeast(expected.length, 1)
        assert.deepStrictEqual(run.stdout.trim().split("\n"), expected)
      } finally {
        rmSync(folder, { recursive: true })
        await server?.stop()
      }
    })
  }
})
