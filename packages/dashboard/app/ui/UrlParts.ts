/**
 * Splits a URL into two parts. If there is little room, the host is cut first, because endpoints differ by their path.
 */

interface UrlParts {
  /** Scheme, host and port. */
  readonly origin: string
  /** The rest. Empty if it is only a slash. */
  readonly path: string
}

const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(.*)$/is

/** Splits a URL. Both parts together are the URL, except for a path of only a slash. */
export const partsOfUrl = (url: string): UrlParts => {
  const [, origin = url, rest = ""] = URL_PARTS.exec(url) ?? []
  return { origin, path: rest === "/" ? "" : rest }
}
