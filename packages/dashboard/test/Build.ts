import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const PACKAGE = fileURLToPath(new URL("..", import.meta.url))

/** Builds the app as for publishing. When the build fails, its output is the error. */
export const buildApp = (...options: ReadonlyArray<string>): Promise<void> => {
  const { NODE_ENV: _, ...env } = process.env
  return new Promise((done, fail) => {
    execFile("npm", ["run", "build", "--", ...options], { cwd: PACKAGE, env }, (error, stdout, stderr) =>
      error === null
        ? done()
        : fail(new Error(`the app could not be built:\n${stdout}${stderr}`, { cause: error })),
    )
  })
}
