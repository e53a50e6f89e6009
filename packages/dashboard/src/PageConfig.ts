/**
 * The configuration of the page: where it is mounted. The handler writes it into the page, and the app reads it there.
 * It is not a script, because the content security policy would have to allow that.
 */

/** The name of the `<meta>` element that has the configuration as JSON. */
export const CONFIG_META = "billwright-dashboard"

export interface PageConfig {
  /** The path at which the dashboard is mounted, without a slash at the end. Empty for the root. */
  readonly basePath: string
  /** The path of the API, up to and including `/v1`. */
  readonly apiUrl: string
  /** How the operator is authenticated: by an API key that the page asks for, or by the host. */
  readonly signIn: "key" | "host"
}

/** The configuration for default options. */
export const DEFAULT_CONFIG: PageConfig = { basePath: "", apiUrl: "/v1", signIn: "key" }
