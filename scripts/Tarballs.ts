/**
 * The packages as users get them: packs their staged directories, and makes folders where they are installed.
 */
import { execFile } from "node:child_process"
import { mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { type Manifest, type Package, root } from "./workspace.ts"

const execute = promisify(execFile)

/** Runs a program to its end, and returns its output. If it fails, the error contains all of the output. */
export const run = async (
  command: string,
  args: ReadonlyArray<string>,
  cwd = root,
  env = process.env,
): Promise<string> => {
  try {
    return (await execute(command, [...args], { cwd, env, maxBuffer: 64 * 1024 * 1024 })).stdout
  } catch (error) {
    const { stderr = "", stdout = "" } = error as { stderr?: string; stdout?: string }
    throw new Error(`${[command, ...args].join(" ")}\n${stdout}${stderr}`, { cause: error })
  }
}

export interface Tarball {
  readonly manifest: Manifest
  readonly file: string
  /** The size of the tarball in bytes. */
  readonly size: number
  readonly entryCount: number
}

/** Packs a staged package (see `stageAll`) into a folder. */
export const pack = async ({ manifest, staged }: Package, folder: string): Promise<Tarball> => {
  const [packed] = JSON.parse(await run("npm", ["pack", "--json", "--pack-destination", folder], staged)) as [
    { readonly filename: string; readonly size: number; readonly entryCount: number },
  ]
  const { entryCount, filename, size } = packed
  return { manifest, file: join(folder, filename), size, entryCount }
}

/** Unpacks a tarball as `npm install` does. Returns the folder. */
export const unpack = async ({ file, manifest }: Tarball, host: string): Promise<string> => {
  const installed = join(host, "node_modules", manifest.name)
  mkdirSync(installed, { recursive: true })
  await run("tar", ["-xzf", file, "--strip-components=1", "-C", installed])
  return installed
}

/** Installs packages of others in a folder, from the workspace. */
export const link = (names: Iterable<string>, host: string): void => {
  for (const name of names) {
    const installed = join(host, "node_modules", name)
    mkdirSync(dirname(installed), { recursive: true })
    symlinkSync(join(root, "node_modules", name), installed)
  }
}
