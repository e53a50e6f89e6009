/**
 * The path of a request, as it was sent.
 *
 * A host guards paths by comparing text. What its guard doesn't recognise must not be recognised here either: nothing
 * is resolved, merged or decoded, and a path that could be written in a simpler way is nobody's.
 */

/** Scheme and host of a URL. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*/i
/** What needs no percent-encoding (RFC 3986 §2.3), and the slashes that a proxy may decode. */
const NEEDLESSLY_ENCODED = /%(?:2[d-f]|3\d|[46][1-9a-f]|[57][\da]|5[cf]|7e)/i

/** No empty segments, no `.` or `..`, no `\`, and nothing is encoded that need not be. */
const isCanonical = (path: string): boolean =>
  path.startsWith("/") &&
  !path.includes("//") &&
  !NEEDLESSLY_ENCODED.test(path) &&
  new URL(`http://localhost${path}`).pathname === path

/** The path of a request's target, without its query; `undefined` when it isn't canonical. */
export const ofTarget = (target: string): string | undefined => {
  const [path = ""] = target.split("?", 1)
  return isCanonical(path) ? path : undefined
}

/** The same of a request of the Fetch standard. */
export const ofRequest = ({ url }: Request): string | undefined => ofTarget(url.replace(ORIGIN, ""))
