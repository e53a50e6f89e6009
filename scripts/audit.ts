/**
 * Looks all dependencies up among the known vulnerabilities (`npm audit`); fails when there is one.
 *
 * Mirrors of the registry often have no such service. Then it says so, and fails nothing: what they answer is no
 * statement about the dependencies.
 */
import { spawnSync } from "node:child_process"
import { root } from "./workspace.ts"

interface Report {
  /** Of an audit that was made. */
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> }
  /** Of one that wasn't. */
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
  console.warn(`not audited, the registry does not answer: ${message ?? "nothing"}`)
} else if (metadata.vulnerabilities["total"] === 0) {
  console.log("no known vulnerability in any dependency")
} else {
  console.error(`known vulnerabilities: ${JSON.stringify(metadata.vulnerabilities)}; npm audit tells which`)
  process.exitCode = 1
}
