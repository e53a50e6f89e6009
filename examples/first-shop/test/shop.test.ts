/** Runs the shop as its user does. The amounts are computed by hand, in the comments. */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"

/** A shop that takes more lines is no first one. */
const MAX_LINES = 60
const SHOP = fileURLToPath(new URL("../src/shop.ts", import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "first-shop-"))
})
afterAll(() => rm(folder, { recursive: true }))

it("has fewer than 60 lines", async () => {
  const lines = (await readFile(SHOP, "utf8")).trimEnd().split("\n")
  expect(lines.length).toBeLessThan(MAX_LINES)
})

it("bills the prints of a month once, and takes the money after a decline", async () => {
  const { NODE_OPTIONS: _, ...env } = process.env
  const { stderr, stdout } = await promisify(execFile)(process.execPath, [SHOP], { cwd: folder, env })
  // 135 prints: 80 × 0.25 + 35 × 0.18 = 26.30, and 9.00 for February.
  expect(stdout.split("\n")).toEqual([
    "so far: 3530",
    "2026-0002 open retrying",
    "2026-0002 paid 3530n",
    "Prints: 2630",
    "Base fee: 900",
    "",
  ])
  expect(stderr).toBe("")
  const page = await readFile(join(folder, "invoice.html"), "utf8")
  expect(page).toContain("2026-0002")
  expect(page).toContain("35.30")
})
