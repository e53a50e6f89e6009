/**
 * The path that a handler is mounted at.
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

/**
 * The base path in a handler's options. `name` is the handler's name, for the error. Throws a `ConfigurationError`.
 */
export const of = (name: string, mount: MountOptions | undefined): string => {
  if (mount === undefined) return ""
  checkMount(mount, name)
  return normalize(mount.basePath)
}

/** Scheme and host of a URL. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*/i

/** Path and query of a `Request`, as the host sees them. */
export const targetOf = ({ url }: Request): string => url.replace(ORIGIN, "")

/** Percent-encoded characters that need no encoding (RFC 3986 §2.3), and slashes, which a proxy may decode. */
const NEEDLESSLY_ENCODED = /%(?:2[d-f]|3\d|[46][1-9a-f]|[57][\da]|5[cf]|7e)/i

/**
 * Whether a path has no empty segments, no `.` or `..`, no `\`, and no unnecessary percent-encoding. A host
 * protects paths by comparing text. A path in another spelling could pass that check and still reach the protected
 * page.
 */
const isCanonical = (path: string): boolean =>
  path.startsWith("/") &&
  !path.includes("//") &&
  !NEEDLESSLY_ENCODED.test(path) &&
  new URL(`http://localhost${path}`).pathname === path

/**
 * Removes the base path from the target of a request. The target is compared as it was sent, without decoding.
 * `undefined`: the target is outside the base path, or its path isn't canonical.
 */
export const strip = (target: string, basePath: string): string | undefined => {
  const [path = ""] = target.split("?", 1)
  if (!isCanonical(path)) return undefined
  if (path === basePath) return `/${target.slice(path.length)}`
  return path.startsWith(`${basePath}/`) ? target.slice(basePath.length) : undefined
}

/** Whether a segment of a route matches any text. */
const isPattern = (segment: string): boolean => segment.startsWith(":") || segment === "*"

/**
 * The part of a request's path that matched a route such as `/:tenant/billing/*` before its `*`. A router may
 * decode the path before it compares. So fixed segments are taken from the route, and only parameters from the
 * path.
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
