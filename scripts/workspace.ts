/**
 * The public packages of the workspace, and the directory where each is staged for packing.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly files?: ReadonlyArray<string>
  readonly exports?: Readonly<Record<string, unknown>>
  readonly publishConfig?: Readonly<Record<string, unknown>> & { readonly directory?: string }
  readonly [field: string]: unknown
}

export interface Package {
  readonly directory: string
  /** The directory for `npm pack` and `changeset publish`: `dist`, and a manifest that points to it. */
  readonly staged: string
  readonly manifest: Manifest
}

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

export const readManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest

/** All public packages, sorted by name. */
export const publishable = (): ReadonlyArray<Package> =>
  readdirSync(join(root, "packages"))
    .map((name) => join(root, "packages", name))
    .filter((directory) => existsSync(join(directory, "package.json")))
    .map((directory) => {
      const manifest = readManifest(directory)
      return { directory, staged: join(directory, manifest.publishConfig?.directory ?? ".package"), manifest }
    })
    .filter(({ manifest }) => manifest.private !== true)
