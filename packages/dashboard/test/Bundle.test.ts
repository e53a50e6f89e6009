import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { buildApp } from "./Build.ts"

/** The limit for all JavaScript together, compressed. */
const MAX_GZIPPED_BYTES = 300 * 1024

/** Addresses in messages and names of libraries. Nothing is loaded from them. */
const NAMES =
  /^https?:\/\/(www\.w3\.org|react\.dev|radix-ui\.com|tanstack\.com|github\.com|fb\.me|reactjs\.org)\//

let directory: string
const files = new Map<string, string>()
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "billwright-bundle-"))
  await buildApp("--outDir", directory)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) files.set(entry.name, await readFile(join(entry.parentPath, entry.name), "utf8"))
})
afterAll(() => rm(directory, { recursive: true }))

const scripts = () => [...files].filter(([name]) => name.endsWith(".js")).map(([, text]) => text)

describe("the build", () => {
  it(`has at most ${MAX_GZIPPED_BYTES} bytes of JavaScript, gzipped`, () => {
    const bytes = scripts().reduce((sum, text) => sum + gzipSync(text).length, 0)
    assert.isAbove(bytes, 50_000)
    assert.isBelow(bytes, MAX_GZIPPED_BYTES)
  })

  it("has no address of another host, except in messages of libraries", () => {
    const addresses = [...files.values()].flatMap((text) => text.match(/https?:\/\/[^\s"'`)]+/g) ?? [])
    const loaded = addresses.filter((address) => !NAMES.test(address))
    assert.deepEqual(
      loaded.filter((address) => !/^https?:\/\/(localhost|example\.com|…)/.test(address)),
      [],
    )
  })

  it("has a page without inline scripts or styles", () => {
    const page = files.get("index.html") ?? ""
    assert.notMatch(page, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/)
    assert.notMatch(page, /(src|href)="(?!\.\/)/)
  })

  it("is a production build", () => {
    for (const text of scripts()) assert.notInclude(text, "Download the React DevTools")
  })
})
