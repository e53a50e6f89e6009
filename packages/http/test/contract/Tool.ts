/**
 * Runs programs of other people as by hand, without a network.
 */
import { execFile } from "node:child_process"
import { mkdtemp, rm, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect, type Scope } from "effect"

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Allows connections only to this machine. */
const OFFLINE = {
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
}

/** Runs a script with this Node. */
export const runNode = (script: string, args: ReadonlyArray<string>, cwd: string): Effect.Effect<Outcome> =>
  Effect.callback((resume) => {
    const child = execFile(
      process.execPath,
      [script, ...args],
      { cwd, env: { ...process.env, ...OFFLINE }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resume(Effect.succeed({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })),
    )
    return Effect.sync(() => child.kill())
  })

/** A file of a package, found as from a module at `from`. */
export const packageFile = (name: string, file: string, from: string = import.meta.url): string => {
  const require = createRequire(from)
  for (const directory of require.resolve.paths(name) ?? []) {
    try {
      return require.resolve(join(directory, name, file))
    } catch {
      continue
    }
  }
  throw new Error(`no ${file} of ${name}`)
}

/** A directory for the test, in which the packages of the workspace are found. */
export const temporaryDirectory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = await mkdtemp(join(tmpdir(), "billwright-contract-"))
    const packages = dirname(dirname(packageFile("openapi-fetch", "package.json")))
    await symlink(packages, join(directory, "node_modules"))
    return directory
  }),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true })),
)
