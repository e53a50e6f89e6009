/**
 * Looks up all dependencies among the known vulnerabilities (`npm audit`). Fails if there is one.
 *
 * Many mirrors of the registry don't have this service. Then it prints that, and does not fail, because their answer
 * says nothing about the dependencies.
 */
import { spawnSync } from "node:child_process"
import { root } from "./workspace.ts"

interface Report {
  /** The number of vulnerabilities, if the audit was made. */
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> }
  /** The reason, if the audit was not made. */
  readonly message?: string
}

const { stderr, stdout } = spawnSync("npm", ["audit", "--json"], { cwd: root, encoding: "utf8" })

const read = (): Report => {
  try {
    return JSON.parse(stdout) as Report
  } catch {
    return { message: stderr.trim() }
  }
}

const { message, metadata } = read()
if (metadata === undefined) {
  console.warn(`not audited, because the registry does not offer it: ${message ?? "nothing"}`)
} else if (metadata.vulnerabilities["total"] === 0) {
  console.log("no known vulnerability in any dependency")
} else {
  console.error(
    `known vulnerabilities: ${JSON.stringify(metadata.vulnerabilities)}; run npm audit for details`,
  )
  process.exitCode = 1
}
