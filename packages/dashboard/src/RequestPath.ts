/**
 * The path of a request, as it was sent.
 *
 * A guard of the host compares paths as text. If a spelling of a path gets past the guard, the dashboard must not accept
 * it either. So nothing is resolved, merged or decoded here, and a path that could be written in a simpler way is
 * refused.
 */

/** Scheme and host of a URL. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*/i
/** Encoded characters that need no percent-encoding (RFC 3986 §2.3), and slashes, which a proxy may decode. */
const NEEDLESSLY_ENCODED = /%(?:2[d-f]|3\d|[46][1-9a-f]|[57][\da]|5[cf]|7e)/i

/** Whether a path has no empty segments, no `.` or `..`, no `\`, and no needless encoding. */
const isCanonical = (path: string): boolean =>
  path.startsWith("/") &&
  !path.includes("//") &&
  !NEEDLESSLY_ENCODED.test(path) &&
  new URL(`http://localhost${path}`).pathname === path

/** The path of a request's target, without its query. `undefined` if the path isn't canonical. */
export const ofTarget = (target: string): string | undefined => {
  const [path = ""] = target.split("?", 1)
  return isCanonical(path) ? path : undefined
}

/** The same for a request of the Fetch standard. */
export const ofRequest = ({ url }: Request): string | undefined => ofTarget(url.replace(ORIGIN, ""))
