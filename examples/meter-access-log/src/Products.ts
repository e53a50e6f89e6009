/**
 * The requests that are billed, and their products. Edit the table for your server.
 */
import type { LogLine } from "./LogLine.ts"

interface Rule {
  /** A path. With `/*` at the end, everything below it. */
  readonly path: string
  /** A product of yours, or "not billed". */
  readonly product: string
}

/** The first rule that matches counts. A request without a rule is not billed. */
const RULES: ReadonlyArray<Rule> = [
  { path: "/static/*", product: "not billed" },
  { path: "/api/images/samples/*", product: "not billed" },
  { path: "/api/search", product: "search" },
  { path: "/api/images/*", product: "images" },
  { path: "/api/reports/*", product: "reports" },
  { path: "/files/*", product: "downloads" },
]

const fits = (rule: Rule, path: string): boolean =>
  rule.path.endsWith("/*") ? path.startsWith(rule.path.slice(0, -1)) : path === rule.path

/** The product of a request. `undefined` if it is not billed, such as failures of the server (5xx). */
export const productOf = ({ path, status }: LogLine): string | undefined => {
  if (path === undefined || status >= 500) return undefined
  const product = RULES.find((rule) => fits(rule, path))?.product
  return product === "not billed" ? undefined : product
}
