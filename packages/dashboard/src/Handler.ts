/**
 * The dashboard as a function from `Request` to `Response`, for every host that uses the Fetch standard.
 */
import { fileURLToPath } from "node:url"
import * as Assets from "./Assets.ts"
import * as Page from "./Page.ts"
import { DEFAULT_CONFIG, type PageConfig } from "./PageConfig.ts"
import * as RequestPath from "./RequestPath.ts"
import { SECTIONS } from "./Sections.ts"
import { SECURITY_HEADERS } from "./SecurityHeaders.ts"

export interface DashboardOptions {
  /** The path at which the dashboard is mounted, such as `/billing/dashboard`. Default: the root. */
  readonly basePath?: string
  /**
   * The path of the API on the same origin, up to and including `/v1`, such as `/billing/v1`. Default: `/v1`.
   * A URL of another origin is refused, because the API and the page's content security policy don't allow one.
   */
  readonly apiUrl?: string
  /**
   * `key` (default): the page asks for an API key and keeps it while its tab is open. `host`: the page sends no key. The
   * host identifies the operator, for example by a cookie, and adds the key itself.
   */
  readonly signIn?: "key" | "host"
  /**
   * Called before anything is served. `true` accepts the request, `false` answers 403, and a response, such as a redirect
   * to the host's login, is sent unchanged. Default: everybody may load the page. The page itself has no data.
   */
  readonly authorize?: (request: Request) => boolean | Response | Promise<boolean | Response>
  /** A folder with another build of the app. Default: the one in this package. */
  readonly directory?: string
}

/**
 * Answers requests for the dashboard, and returns `undefined` for all other requests, which belong to the host. The path
 * is compared as it was sent. A path with empty segments, with `.`, `..` or `\\`, or with needless percent-encoding does
 * not belong to the dashboard.
 */
export type DashboardHandler = (request: Request) => Promise<Response | undefined>

const ONE_YEAR_SECONDS = 31_536_000
const SEGMENTED_PATH = /^(\/[\w.~-]+)*$/

const checkPath = (name: string, path: string): string => {
  const trimmed = path.replace(/\/+$/, "")
  if (SEGMENTED_PATH.test(trimmed)) return trimmed
  throw new TypeError(`${name} must be a path such as /billing, not ${path}`)
}

/** The part of a path below the mount point. `undefined` if the path is not below it. */
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
 * Throws a `TypeError` when a path of the options is invalid.
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

  /** If the app is not built, it looks again at the next request, because it may be built while the server runs. */
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
      return text(405, "Only GET and HEAD are allowed.", { allow: "GET, HEAD" })
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
  return verdict ? undefined : text(403, "You may not open this page.")
}
