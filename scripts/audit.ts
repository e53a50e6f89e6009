/**
 * Looks up all dependencies among the known vulnerabilities. Fails if there is one.
 *
 * It asks the registry (`npm audit`). Many mirrors don't have this service. Then it looks into a copy of published
 * advisories, if it has one: `npm run audit -- --advisories <folder>`, or `ADVISORIES` in the environment. Without one it
 * prints that nothing was audited, and does not fail: the answer of the mirror says nothing about the dependencies.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { parseArgs } from "node:util"
import { installed, lookUp } from "./advisories.ts"
import { root } from "./workspace.ts"

/** A copy that is older than this many days gets a warning. */
const OLD_DAYS = 30
const DAY_MILLIS = 86_400_000

interface Report {
  /** The number of vulnerabilities, if the audit was made. */
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> }
  /** The reason, if the audit was not made. */
  readonly message?: string
}

const askRegistry = (): Report => {
  const { stderr, stdout } = spawnSync("npm", ["audit", "--json"], { cwd: root, encoding: "utf8" })
  try {
    return JSON.parse(stdout) as Report
  } catch {
    return { message: stderr.trim() }
  }
}

const fail = (message: string): void => {
  console.error(message)
  process.exitCode = 1
}

const auditByCopy = (folder: string): void => {
  if (!existsSync(folder)) return fail(`there is no folder ${folder}: --advisories names one of advisories`)
  const { advisories, findings, newest } = lookUp(installed(), folder)
  if (advisories === 0) return fail(`${folder} has no advisories`)
  const age = Math.floor((Date.now() - Date.parse(newest)) / DAY_MILLIS)
  console.log(`looked into ${advisories} advisories, the newest of ${newest}`)
  if (age > OLD_DAYS) console.warn(`that is ${age} days old: bring a newer copy`)
  if (findings.length === 0) return console.log("none is about a version in package-lock.json")
  fail(findings.map(({ id, name, summary, version }) => `${name} ${version}: ${id} ${summary}`).join("\n"))
}

const { values } = parseArgs({ options: { advisories: { type: "string" } } })
const copy = values.advisories ?? process.env["ADVISORIES"]
const { message, metadata } = askRegistry()
if (metadata !== undefined) {
  if (metadata.vulnerabilities["total"] === 0) console.log("no known vulnerability in any dependency")
  else fail(`known vulnerabilities: ${JSON.stringify(metadata.vulnerabilities)}; run npm audit for details`)
} else if (copy !== undefined) {
  auditByCopy(copy)
} else {
  console.warn(
    `not audited, because the registry does not offer it (${message ?? "no answer"}), and there is no --advisories`,
  )
}
