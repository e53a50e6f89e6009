/**
 * The dashboard as a function from `Request` to `Response`, for every host that speaks Fetch.
 */
import { fileURLToPath } from "node:url"
import * as Assets from "./Assets.ts"
import * as Page from "./Page.ts"
import { DEFAULT_CONFIG, type PageConfig } from "./PageConfig.ts"
import * as RequestPath from "./RequestPath.ts"
import { SECTIONS } from "./Sections.ts"
import { SECURITY_HEADERS } from "./SecurityHeaders.ts"

export interface DashboardOptions {
  /** The path that the dashboard is mounted at, such as `/billing/dashboard`. Default: the root. */
  readonly basePath?: string
  /**
   * The path of the API on the same origin, up to and including `/v1`, such as `/billing/v1`. Default: `/v1`.
   * Another origin is refused: the API answers no other, and the page's policy asks none.
   */
  readonly apiUrl?: string
  /**
   * `key`, the default: the page asks for an API key and keeps it for as long as its tab is open. `host`: the page
   * sends no key; the host knows the operator, by a cookie for instance, and adds the key on its side.
   */
  readonly signIn?: "key" | "host"
  /**
   * Asked before anything is served: `true` lets the request pass, `false` answers 403, and a response, such as a
   * redirection to the host's login, is sent as it is. Default: everybody may load the page. It holds no data.
   */
  readonly authorize?: (request: Request) => boolean | Response | Promise<boolean | Response>
  /** A folder with another build of the app. Default: the one in this package. */
  readonly directory?: string
}

/**
 * Answers what is the dashboard's; `undefined` for every other request, which is the host's then. The path is compared
 * as it was sent: one with empty segments, with `.`, `..` or `\\`, or with more encoded than has to be, is not the
 * dashboard's.
 */
export type DashboardHandler = (request: Request) => Promise<Response | undefined>

const ONE_YEAR_SECONDS = 31_536_000
const SEGMENTED_PATH = /^(\/[\w.~-]+)*$/

const checkPath = (name: string, path: string): string => {
  const trimmed = path.replace(/\/+$/, "")
  if (SEGMENTED_PATH.test(trimmed)) return trimmed
  throw new TypeError(`${name} must be a path such as /billing, not ${path}`)
}

/** The part of a path below the mount point; `undefined` when it is elsewhere. */
const below = (basePath: string, path: string | undefined): string | undefined => {
  if (path === basePath) return "/"
  return path?.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
}

const isPage = (path: string): boolean => {
  const section = path.split("/")[1] ?? ""
  return section === "" ? path === "/" : (SECTIONS as ReadonlyArray<string>).includes(section)
}

const text = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(`${message}\n`, {
    status,
    headers: {
      ...SECURITY_HEADERS,
      "cache-control": "no-store",
      "content-type": "text/plain; charset=utf-8",
      ...headers,
    },
  })

const accepts = (header: string | null, wanted: string): boolean =>
  header !== null && header.split(",").some((each) => each.trim().replace(/^W\//, "") === wanted)

const acceptsGzip = (request: Request): boolean =>
  /(^|,)\s*gzip\s*(,|$|;(?!\s*q=0(\.0*)?\s*(,|$)))/i.test(request.headers.get("accept-encoding") ?? "")

const send = (request: Request, asset: Assets.Asset, cacheControl: string): Response => {
  const isGzipped = acceptsGzip(request)
  const etag = `"${asset.hash}${isGzipped ? "-gzip" : ""}"`
  const headers = { ...SECURITY_HEADERS, "cache-control": cacheControl, etag, vary: "accept-encoding" }
  if (accepts(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers })
  const bytes = isGzipped ? asset.gzipped : asset.bytes
  return new Response(request.method === "HEAD" ? null : bytes, {
    headers: {
      ...headers,
      "content-length": String(bytes.byteLength),
      "content-type": asset.type,
      ...(isGzipped ? { "content-encoding": "gzip" } : {}),
    },
  })
}

interface Built {
  readonly page: Assets.Asset
  readonly files: Assets.Assets["files"]
}

const build = async (directory: string, config: PageConfig): Promise<Built | undefined> => {
  const assets = await Assets.load(directory)
  if (assets === undefined) return undefined
  const page = new TextEncoder().encode(Page.render(assets.page, config))
  return { page: await Assets.toAsset("/index.html", page), files: assets.files }
}

/**
 * Makes the handler. It reads the files at the first request, and answers 503 while the app is not built.
 *
 * Throws a `TypeError` for a path that can't be one.
 */
export const handler = (options: DashboardOptions = {}): DashboardHandler => {
  const config: PageConfig = {
    basePath: checkPath("basePath", options.basePath ?? DEFAULT_CONFIG.basePath),
    apiUrl: checkPath("apiUrl", options.apiUrl ?? DEFAULT_CONFIG.apiUrl),
    signIn: options.signIn ?? DEFAULT_CONFIG.signIn,
  }
  const directory = options.directory ?? fileURLToPath(Assets.BUILT_APP)
  const scope = options.authorize === undefined ? "public" : "private"
  let built: Promise<Built | undefined> | undefined

  /** What was not there is looked for again: somebody may build while the server runs. */
  const load = async (): Promise<Built | undefined> => {
    built ??= build(directory, config)
    const loaded = await built
    if (loaded === undefined) built = undefined
    return loaded
  }

  const serve = async (request: Request, path: string): Promise<Response | undefined> => {
    const loaded = await load()
    const isOfApp = isPage(path)
    if (loaded === undefined)
      return isOfApp ? text(503, "The dashboard is not built: npm run build.") : undefined
    const file = loaded.files.get(path)
    if (file === undefined && !isOfApp) return undefined
    const refusal = await refuse(request, options.authorize)
    if (refusal !== undefined) return refusal
    if (request.method !== "GET" && request.method !== "HEAD")
      return text(405, "GET and HEAD are all that there is here.", { allow: "GET, HEAD" })
    if (file === undefined) return send(request, loaded.page, "no-cache")
    return send(
      request,
      file,
      file.isHashed ? `${scope}, max-age=${ONE_YEAR_SECONDS}, immutable` : `${scope}, no-cache`,
    )
  }

  return async (request) => {
    const path = below(config.basePath, RequestPath.ofRequest(request))
    return path === undefined ? undefined : serve(request, path)
  }
}

const refuse = async (
  request: Request,
  authorize: DashboardOptions["authorize"],
): Promise<Response | undefined> => {
  const verdict = authorize === undefined || (await authorize(request))
  if (typeof verdict !== "boolean") return verdict
  return verdict ? undefined : text(403, "This is not for you.")
}
