import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, onTestFinished } from "vitest"
import { installed, lookUp } from "./advisories.ts"

const copyOf = (...advisories: ReadonlyArray<object>): string => {
  const folder = mkdtempSync(join(tmpdir(), "advisories-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  advisories.forEach((advisory, index) => {
    const own = join(folder, `2026/0${index}`)
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, "GHSA.json"), JSON.stringify(advisory))
  })
  return folder
}

/** An advisory about versions of a package between events. */
const about = (name: string, events: ReadonlyArray<object>, fields: object = {}, more: object = {}) => ({
  id: `GHSA-${name}`,
  modified: "2026-11-01T00:00:00Z",
  summary: "It fails",
  affected: [{ package: { ecosystem: "npm", name }, ranges: [{ type: "SEMVER", events }], ...more }],
  ...fields,
})

const found = (version: string, ...advisories: ReadonlyArray<object>) =>
  lookUp([{ name: "left", version }], copyOf(...advisories)).findings.map(({ id }) => id)

describe("a copy of advisories", () => {
  it.each([
    [
      "from the first version to a fix",
      [{ introduced: "0" }, { fixed: "1.2.0" }],
      ["0.0.1", "1.1.9"],
      ["1.2.0"],
    ],
    [
      "up to the last affected one",
      [{ introduced: "1.0.0" }, { last_affected: "1.4.0" }],
      ["1.4.0"],
      ["0.9.0", "1.4.1"],
    ],
    ["without a fix", [{ introduced: "2.0.0" }], ["2.0.0", "9.0.0"], ["1.9.9"]],
    [
      "in two ranges, in any order",
      [{ fixed: "2.0.5" }, { introduced: "2.0.0" }, { introduced: "1.0.0" }, { fixed: "1.0.5" }],
      ["1.0.4", "2.0.4", "2.0.5-beta.1"],
      ["1.0.5", "2.0.5"],
    ],
  ])("finds versions %s", (_, events, affected, others) => {
    for (const version of affected)
      assert.deepStrictEqual(found(version, about("left", events)), ["GHSA-left"], version)
    for (const version of others) assert.deepStrictEqual(found(version, about("left", events)), [], version)
  })

  it("finds versions that are listed, and those up to the last that is known", () => {
    assert.deepStrictEqual(found("3.0.0", about("left", [], {}, { versions: ["3.0.0"] })), ["GHSA-left"])
    const known = { database_specific: { last_known_affected_version_range: "<= 2.1.0" } }
    const advisory = about("left", [{ introduced: "0" }], {}, known)
    assert.deepStrictEqual([found("2.1.0", advisory), found("2.1.1", advisory)], [["GHSA-left"], []])
  })

  it("passes over what was withdrawn, other packages and other ecosystems, and says how new it is", () => {
    const always = [{ introduced: "0" }]
    const withdrawn = about("left", always, {
      withdrawn: "2026-11-02T00:00:00Z",
      modified: "2026-11-02T00:00:00Z",
    })
    const python = about("left", always, {}, { package: { ecosystem: "PyPI", name: "left" } })
    const folder = copyOf(withdrawn, python, about("right", always))
    const looked = lookUp([{ name: "left", version: "1.0.0" }], folder)
    assert.deepStrictEqual(looked, { findings: [], advisories: 3, newest: "2026-11-02T00:00:00Z" })
  })
})

it("a lockfile has each installed version of a package, also nested ones and those under another name", () => {
  const folder = copyOf()
  const lockfile = join(folder, "package-lock.json")
  const packages = {
    "": { name: "host", version: "1.0.0" },
    "packages/own": { version: "1.0.0" },
    "node_modules/own": { link: true },
    "node_modules/@a/left": { version: "1.0.0" },
    "node_modules/right/node_modules/@a/left": { version: "2.0.0" },
    "node_modules/alias": { name: "real", version: "3.0.0" },
  }
  writeFileSync(lockfile, JSON.stringify({ packages }))
  assert.deepStrictEqual(installed(lockfile), [
    { name: "@a/left", version: "1.0.0" },
    { name: "@a/left", version: "2.0.0" },
    { name: "real", version: "3.0.0" },
  ])
  assert.isAbove(installed().length, 300)
})
