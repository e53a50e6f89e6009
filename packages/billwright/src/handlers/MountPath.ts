/**
 * Where a handler is mounted.
 */
import { ConfigurationError } from "../errors/RuntimeError.ts"
import * as OptionRules from "../runtime/OptionRules.ts"
import type { MountOptions } from "./Handlers.ts"

/** `/billing/` → `/billing`, `/` → nothing. Throws a `ConfigurationError`. */
export const normalize = (basePath: string | undefined): string => {
  if (basePath !== undefined && typeof basePath !== "string") {
    throw new ConfigurationError('basePath must be a path such as "/billing"')
  }
  const trimmed = (basePath ?? "").replace(/\/+$/, "")
  if (trimmed === "" || trimmed.startsWith("/")) return trimmed
  throw new ConfigurationError(`basePath must start with /: "/${trimmed}", not "${trimmed}"`)
}

const checkMount = OptionRules.fields({ basePath: OptionRules.anything })

/** The base path of what a handler is given, `name` being its own. Throws a `ConfigurationError`. */
export const of = (name: string, mount: MountOptions | undefined): string => {
  if (mount === undefined) return ""
  checkMount(mount, name)
  return normalize(mount.basePath)
}

/** Scheme and host of a URL. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*/i

/** Path and query of a request of the Fetch standard, as its host sees them. */
export const targetOf = ({ url }: Request): string => url.replace(ORIGIN, "")

/** What needs no percent-encoding (RFC 3986 §2.3), and the slashes that a proxy may decode. */
const NEEDLESSLY_ENCODED = /%(?:2[d-f]|3\d|[46][1-9a-f]|[57][\da]|5[cf]|7e)/i

/**
 * Whether a path has no empty segments, no `.` or `..`, no `\`, and nothing encoded that need not be. A host guards
 * paths by comparing text: what could be written in a simpler way may have passed its guard as something else.
 */
const isCanonical = (path: string): boolean =>
  path.startsWith("/") &&
  !path.includes("//") &&
  !NEEDLESSLY_ENCODED.test(path) &&
  new URL(`http://localhost${path}`).pathname === path

/**
 * The target of a request without the base path; `undefined` when it is elsewhere, or its path isn't canonical. It is
 * compared as it was sent.
 */
export const strip = (target: string, basePath: string): string | undefined => {
  const [path = ""] = target.split("?", 1)
  if (!isCanonical(path)) return undefined
  if (path === basePath) return `/${target.slice(path.length)}`
  return path.startsWith(`${basePath}/`) ? target.slice(basePath.length) : undefined
}

/** Segments of a route that stand for any text. */
const isPattern = (segment: string): boolean => segment.startsWith(":") || segment === "*"

/**
 * What a route such as `/:tenant/billing/*` left of a request's path before its `*`. A router may have decoded the path
 * before it compared: what the route spells out stays as the route has it, and is to be found in the path like that.
 */
export const beforeWildcard = (route: string | undefined, request: Request): string => {
  if (route === undefined || !route.endsWith("/*")) return ""
  const sent = targetOf(request).split("/")
  return route
    .split("/")
    .slice(0, -1)
    .map((name, index) => (isPattern(name) ? sent[index] : name))
    .join("/")
}
