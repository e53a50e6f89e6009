/**
 * An address in two parts: where there is little room, the host is cut before the path, which tells endpoints apart.
 */

interface UrlParts {
  /** Scheme, host and port. */
  readonly origin: string
  /** All that follows, without a slash alone. */
  readonly path: string
}

const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(.*)$/is

/** The parts together are the address, but for a slash that stands alone. */
export const partsOfUrl = (url: string): UrlParts => {
  const [, origin = url, rest = ""] = URL_PARTS.exec(url) ?? []
  return { origin, path: rest === "/" ? "" : rest }
}
