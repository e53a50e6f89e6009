/**
 * What the tests of documents share: reading Markdown, and the programs that its examples need.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"

export const root = join(import.meta.dirname, "..")
export const node = process.execPath
const command = join(root, "packages/cli/src/bin.ts")

export const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** The code blocks of a language, in order. */
export const blocks = (text: string, language: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    (match) => match[1] ?? "",
  )

/** The text without its code blocks. */
export const withoutBlocks = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, "")

/** The part of a document from a heading to the next one of its level or higher. */
export const section = (text: string, heading: string): string => {
  const [, hashes = "", rest] = new RegExp(`^(#+) ${heading}\\n([\\s\\S]*)`, "m").exec(text) ?? []
  if (rest === undefined) throw new Error(`there is no heading "${heading}"`)
  const end = new RegExp(`^#{1,${hashes.length}} `, "m").exec(rest)?.index
  return rest.slice(0, end)
}

/** The rows of the first table of a text whose first column has this title: cells as they are written, trimmed. */
export const table = (text: string, firstColumn: string): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = text.split("\n")
  const cells = (line: string) =>
    line
      .slice(1, line.lastIndexOf("|"))
      .split("|")
      .map((cell) => cell.trim())
  const head = lines.findIndex((line) => line.startsWith("|") && cells(line)[0] === firstColumn)
  if (head === -1) throw new Error(`there is no table of "${firstColumn}"`)
  const length = lines.slice(head).findIndex((line) => !line.startsWith("|"))
  return lines.slice(head + 2, length === -1 ? undefined : head + length).map(cells)
}

/** A folder inside the workspace, so that the packages are found, for as long as it is used. */
export const inWorkspace = <A>(use: (folder: string) => A): A => {
  const folder = mkdtempSync(join(root, "scripts", ".readme-"))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs TypeScript that says what it prints: `console.log(…) // this`. */
export const runExample = (code: string, variables: NodeJS.ProcessEnv = {}): void =>
  inWorkspace((folder) => {
    const file = join(folder, "example.ts")
    writeFileSync(file, code)
    const run = spawnSync(node, [file], { encoding: "utf8", env: { ...process.env, ...variables } })
    assert.strictEqual(run.stderr, "")
    const expected = [...code.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1])
    assert.isAtLeast(expected.length, 1)
    assert.deepStrictEqual(run.stdout.trim().split("\n"), expected)
  })

/** A port that nobody listens on. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

export const startServer = async () => {
  const args = [command, "serve", "--port", "0", "--store", "memory"]
  const child = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"] })
  let url = ""
  let key = ""
  for await (const line of createInterface({ input: child.stdout })) {
    url = /listening on (\S+)/.exec(line)?.[1] ?? url
    key = /test key {2}(\S+)/.exec(line)?.[1] ?? key
    if (url !== "" && key !== "") break
  }
  const stop = async () => {
    child.kill("SIGTERM")
    await once(child, "exit")
  }
  return { url, key, stop }
}

export const startPostgres = async () => {
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
