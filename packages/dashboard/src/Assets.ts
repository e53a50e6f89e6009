/**
 * The built files of the app. They are read into memory once and found by their exact path. The path of a request is
 * never joined to a path on the disk.
 */
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** The folder of the built app. The path is the same from `src` and from `dist`. */
export const BUILT_APP = new URL("../dist/app/", import.meta.url)

/** The HTML file of the app. */
const PAGE = "index.html"

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** The bytes of a file, with the values for its headers. */
export interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzipped: Uint8Array<ArrayBuffer>
  readonly type: string
  /** A hash of the bytes, without quotes. */
  readonly hash: string
  /** Whether its name changes with its content. */
  readonly isHashed: boolean
}

export interface Assets {
  /** The HTML page, without its configuration. */
  readonly page: string
  /** By path below the mount point, such as `/assets/index-1a2b3c4d.js`. */
  readonly files: ReadonlyMap<string, Asset>
}

const compress = promisify(gzip)
const HASH_LENGTH = 22

/** Makes an asset from the bytes of a file. */
export const toAsset = async (path: string, content: Uint8Array): Promise<Asset> => ({
  bytes: new Uint8Array(content),
  gzipped: new Uint8Array(await compress(content)),
  type: TYPES[extname(path)] ?? "application/octet-stream",
  hash: createHash("sha256").update(content).digest("base64url").slice(0, HASH_LENGTH),
  isHashed: path.startsWith("/assets/"),
})

/** Reads the files of a build. `undefined` if there is no build. */
export const load = async (directory: string): Promise<Assets | undefined> => {
  const page = await readFile(join(directory, PAGE), "utf8").catch(() => undefined)
  if (page === undefined) return undefined
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  // Symbolic links are left out, wherever they point.
  const files = entries
    .filter((entry) => entry.isFile() && entry.name !== PAGE)
    .map((entry) => join(entry.parentPath, entry.name))
  const assets = files.map(async (file): Promise<[string, Asset]> => {
    const path = `/${relative(directory, file).split(sep).join("/")}`
    return [path, await toAsset(path, await readFile(file))]
  })
  return { page, files: new Map(await Promise.all(assets)) }
}
