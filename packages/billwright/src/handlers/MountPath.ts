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

/** The URL of a request without the base path; `undefined` when it is elsewhere. */
export const strip = (url: string, basePath: string): string | undefined => {
  if (basePath === "") return url
  if (!url.startsWith(basePath)) return undefined
  const rest = url.slice(basePath.length)
  if (rest === "" || rest.startsWith("?")) return `/${rest}`
  return rest.startsWith("/") ? rest : undefined
}

/** What a route such as `/:tenant/billing/*` left of a path before its `*`. */
export const beforeWildcard = (route: string | undefined, path: string): string => {
  if (route === undefined || !route.endsWith("/*")) return ""
  return path
    .split("/")
    .slice(0, route.split("/").length - 1)
    .join("/")
}
