/**
 * The built files of the app, read once into memory and found by their exact path: no path of a request is ever
 * joined to a path of the disk.
 */
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** Where the build puts the app, seen from `src` and from `dist` alike. */
export const BUILT_APP = new URL("../dist/app/", import.meta.url)

/** The file that every page of the app starts with. */
const PAGE = "index.html"

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** Bytes with what goes out along with them. */
export interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzipped: Uint8Array<ArrayBuffer>
  readonly type: string
  /** Of the bytes, without quotes. */
  readonly hash: string
  /** Whether its name changes with its content. */
  readonly isHashed: boolean
}

export interface Assets {
  /** The page, before it is told where it is mounted. */
  readonly page: string
  /** By path below the mount point, such as `/assets/index-1a2b3c4d.js`. */
  readonly files: ReadonlyMap<string, Asset>
}

const compress = promisify(gzip)
const HASH_LENGTH = 22

/** Makes what is sent of some bytes. */
export const toAsset = async (path: string, content: Uint8Array): Promise<Asset> => ({
  bytes: new Uint8Array(content),
  gzipped: new Uint8Array(await compress(content)),
  type: TYPES[extname(path)] ?? "application/octet-stream",
  hash: createHash("sha256").update(content).digest("base64url").slice(0, HASH_LENGTH),
  isHashed: path.startsWith("/assets/"),
})

/** Reads the files of a build; `undefined` when there is none. */
export const load = async (directory: string): Promise<Assets | undefined> => {
  const page = await readFile(join(directory, PAGE), "utf8").catch(() => undefined)
  if (page === undefined) return undefined
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  // A symbolic link is no file here, wherever it points.
  const files = entries
    .filter((entry) => entry.isFile() && entry.name !== PAGE)
    .map((entry) => join(entry.parentPath, entry.name))
  const assets = files.map(async (file): Promise<[string, Asset]> => {
    const path = `/${relative(directory, file).split(sep).join("/")}`
    return [path, await toAsset(path, await readFile(file))]
  })
  return { page, files: new Map(await Promise.all(assets)) }
}
