/**
 * Which code is measured.
 */
import { execFileSync } from "node:child_process"

/** What benchmarks and their report write themselves. It changes nothing that is measured. */
const WRITTEN = [":!bench/results", ":!docs"]

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, {
    cwd: `${import.meta.dirname}/..`,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  })

const read = () => {
  try {
    return {
      commit: git("rev-parse", "HEAD").trim(),
      hasChanges: git("status", "--porcelain", "--", ".", ...WRITTEN).trim() !== "",
    }
  } catch {
    return {} // no checkout of git
  }
}

/**
 * The commit that is checked out, and whether files differ from it, as it was when this process began. Empty where that is not
 * known.
 */
export const measured: { readonly commit?: string; readonly hasChanges?: boolean } = read()
