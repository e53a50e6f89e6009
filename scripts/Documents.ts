import { spawn } from "node:child_process"
/**
 * Helpers for the tests of documents: they read Markdown, and start the servers that examples need.
 */
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Exit, Redacted, Scope } from "effect"
import { bin } from "../packages/cli/test/Command.ts"

export const root = join(import.meta.dirname, "..")
export const node = process.execPath

export const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** Documents with examples. The examples of packages are files of their tests. */
export const ownDocuments: ReadonlyArray<string> = globSync("{README.md,AGENTS.md,docs/*.md}", {
  cwd: root,
}).toSorted()

/** The code blocks of a language, in order. */
export const blocks = (text: string, language: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    (match) => match[1] ?? "",
  )

/** Applies a `diff` block to a file's text. */
export const applied = (diff: string): string => diff.replaceAll(/^-.*\n/gm, "").replaceAll(/^[ +]/gm, "")

/** The text without its code blocks. */
export const withoutBlocks = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, "")

/** The anchors of the headings, as GitHub makes them. Of equal headings, that of the last one. */
export const anchorsOf = (text: string): ReadonlyMap<string, string> => {
  const counts = new Map<string, number>()
  const anchors = new Map<string, string>()
  for (const [, heading = ""] of withoutBlocks(text).matchAll(/^#+ (.*)$/gm)) {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-")
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    anchors.set(heading, count === 0 ? anchor : `${anchor}-${count}`)
  }
  return anchors
}

/** The part of a document from a heading to the next one of its level or a higher one. */
export const section = (text: string, heading: string): string => {
  const [, hashes = "", rest] = new RegExp(`^(#+) ${heading}\\n([\\s\\S]*)`, "m").exec(text) ?? []
  if (rest === undefined) throw new Error(`there is no heading "${heading}"`)
  const end = new RegExp(`^#{1,${hashes.length}} `, "m").exec(rest)?.index
  return rest.slice(0, end)
}

/** The rows of the first table whose first column has this title. Cells are trimmed, and otherwise as written. */
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

/** Systems take the ports of outgoing connections from 32768 on, so none of those is free for long. */
const PORTS = { first: 20_000, end: 32_768 }
const PORT_TRIES = 100

/** Whether a server can listen on a port of this machine now. */
const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, "127.0.0.1")
  try {
    await once(server, "listening")
  } catch {
    return false
  }
  server.close()
  await once(server, "close")
  return true
}

/** A port that is free, and that no outgoing connection takes. */
export const freePort = async (): Promise<number> => {
  for (let tried = 0; tried < PORT_TRIES; tried++) {
    const port = randomInt(PORTS.first, PORTS.end)
    if (await isFree(port)) return port
  }
  throw new Error(`none of ${PORT_TRIES} ports is free`)
}

export const startServer = async () => {
  const args = [bin, "serve", "--port", "0", "--store", "memory", "--allow-loopback"]
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
