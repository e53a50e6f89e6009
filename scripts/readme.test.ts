/**
 * The README is true: its tour runs as printed against the server that `npm start` starts, and its TypeScript
 * prints what it says.
 */
import { assert, describe, it } from "@effect/vitest"
import { blocks, freePort, read, root, runExample, startPostgres, startServer } from "./Documents.ts"
import { Terminal } from "./Terminal.ts"

const readme = read("README.md")
const tour = readme.slice(readme.indexOf("## A tour"), readme.indexOf("## In your own process"))

/** Ids differ from run to run. */
const withoutIds = (text: string): string => text.replace(/\b(cus|usg|evt|whe|dlv)_[0-9a-z]{26}\b/g, "$1_…")

/** The moment of a run differs, too, and the README has room; everything else must be as printed. */
const settle = (json: string): string => {
  const settled = withoutIds(json)
    .replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1")
    .replace(/"(created_at|updated_at|finished_at)":"[^"]*"/g, '"$1":"…"')
  // An event's is the moment of its publication.
  return settled.replace(/("object":"event",.*"timestamp":)"[^"]*"/, '$1"…"')
}

/** Whether deliveries are under way: who reads the tour looks a moment later. */
const isPending = async (url: string, key: string): Promise<boolean> => {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${url}/v1/deliveries?status=Pending`, { headers })
  return ((await response.json()) as { readonly data: ReadonlyArray<unknown> }).data.length > 0
}

describe("README.md", () => {
  it("has a tour that runs as printed", { timeout: 60_000 }, async () => {
    const { key, stop, url } = await startServer()
    const terminal = new Terminal(root)
    try {
      const port = String(await freePort())
      const mine = (code: string) =>
        code
          .replace("the test key that npm start printed", key)
          .replace("http://127.0.0.1:4100", url)
          .replaceAll(/\b3000\b/g, port)
      for (const code of blocks(tour, "sh")) {
        await terminal.run(mine(code))
        if (/&$/m.test(code)) await terminal.shows(`listening on http://127.0.0.1:${port}`)
        while (await isPending(url, key));
      }
      assert.strictEqual(terminal.errors, "")
      assert.notInclude(mine(tour), ":4100/v1")
      const answers = terminal.lines.filter((line) => line.startsWith("{"))
      assert.deepStrictEqual(answers.map(settle), blocks(tour, "json").map(settle))
      await terminal.shows(/^verified /)
      const told = terminal.lines.filter((line) => line.startsWith("verified "))
      assert.deepStrictEqual(told.map(withoutIds), [withoutIds(blocks(tour, "text").join("").trim())])
    } finally {
      await terminal.close()
      await stop()
    }
  })

  for (const [index, code] of blocks(readme, "ts").entries()) {
    it(`has TypeScript that does what it says (${index + 1})`, { timeout: 60_000 }, async () => {
      const server = code.includes("DATABASE_URL") ? await startPostgres() : undefined
      try {
        runExample(code, { DATABASE_URL: server?.url })
      } finally {
        await server?.stop()
      }
    })
  }
})
