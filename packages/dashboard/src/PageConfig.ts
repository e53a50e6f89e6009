/**
 * What the page has to know of where it is mounted. The handler writes it into the page, the app reads it there:
 * a script in the page would need a hole in the content security policy.
 */

/** The name of the page's `<meta>` that carries it as JSON. */
export const CONFIG_META = "billwright-dashboard"

export interface PageConfig {
  /** The path that the dashboard is mounted at, without a slash at its end; empty at the root. */
  readonly basePath: string
  /** The path of the API, up to and including `/v1`. */
  readonly apiUrl: string
  /** Who says who the operator is: an API key that the page asks for, or the host. */
  readonly signIn: "key" | "host"
}

/** How it is when nobody says otherwise. */
export const DEFAULT_CONFIG: PageConfig = { basePath: "", apiUrl: "/v1", signIn: "key" }
