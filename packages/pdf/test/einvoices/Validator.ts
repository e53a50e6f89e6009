/**
 * Mustang, a validator of e-invoices: it runs the official rules of CEN for EN 16931 and those of Factur-X, the schemas of
 * CII, and veraPDF. It comes from Maven Central.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const GROUP = "org.mustangproject"
const ARTIFACT = "Mustang-CLI"
const VERSION = "2.26.0"

/** The most that an answer may print, in bytes. */
const MOST_OUTPUT = 64 * 1024 * 1024

const runs = (command: string, argument: string): boolean =>
  spawnSync(command, [argument], { stdio: "ignore" }).status === 0

/** Fetches the validator. `undefined` where there is no Java or no Maven. */
export const validatorJar = (): string | undefined => {
  if (!runs("java", "-version") || !runs("mvn", "--version")) return undefined
  const repository = join(homedir(), ".m2/repository")
  const folder = join(repository, ...GROUP.split("."), ARTIFACT, VERSION)
  const jar = join(folder, `${ARTIFACT}-${VERSION}.jar`)
  if (!existsSync(jar)) {
    const artifact = `${GROUP}:${ARTIFACT}:${VERSION}`
    const options = ["-B", "-q", `-Dmaven.repo.local=${repository}`, "-Dtransitive=false"]
    execFileSync("mvn", [...options, "dependency:get", `-Dartifact=${artifact}`], { stdio: "inherit" })
  }
  return jar
}

/** What the validator says of a file. */
export interface Verdict {
  readonly isValid: boolean
  /** The rules that are broken, such as `BR-CO-15`. */
  readonly rules: ReadonlyArray<string>
}

const FILE = /Testing file \d+:\s+(valid|invalid) \((.*)\)/
const BROKEN = /\[(?:ID )?(BR-[A-Z]+(?:-[A-Z]+)?-\d+|BR-\d+)\]/g

/** Judges the files of a folder, in one process. Verdicts are by the names of files. */
export const judge = (jar: string, folder: string): ReadonlyMap<string, Verdict> => {
  const { error, stderr, stdout } = spawnSync(
    "java",
    ["-jar", jar, "--disable-file-logging", "--no-notices", "--action", "validateExpectValid", "-d", folder],
    { encoding: "utf8", maxBuffer: MOST_OUTPUT },
  )
  if (error !== undefined) throw error
  const verdicts = new Map<string, Verdict>()
  let rules: Array<string> = []
  for (const line of `${stdout}\n${stderr}`.split("\n")) {
    rules.push(...Array.from(line.matchAll(BROKEN), ([, rule = ""]) => rule))
    const [, status, path = ""] = FILE.exec(line) ?? []
    if (status === undefined) continue
    verdicts.set(path.slice(path.lastIndexOf("/") + 1), { isValid: status === "valid", rules })
    rules = []
  }
  if (verdicts.size === 0) throw new Error(`the validator judged nothing:\n${stdout}\n${stderr}`)
  return verdicts
}
