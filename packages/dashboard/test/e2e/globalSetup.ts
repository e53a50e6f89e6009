import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url))

/** Builds the app, so that what is tested is what there is: as it is published, not as vitest has its modules. */
export const setup = async (): Promise<void> => {
  const { NODE_ENV: _, ...env } = process.env
  await promisify(execFile)("npm", ["run", "build"], { cwd: PACKAGE, env })
}
