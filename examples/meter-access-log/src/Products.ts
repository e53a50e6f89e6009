/**
 * Which requests are billed, and as which product. Edit the table to suit your server.
 */
import type { LogLine } from "./LogLine.ts"

interface Rule {
  /** A path, or with `/*` at its end everything below it. */
  readonly path: string
  /** A product of yours, or "not billed". */
  readonly product: string
}

/** The first rule that fits counts; what none fits is not billed. */
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

/** The product of a request, or `undefined` where it is not billed. Our own failures (5xx) never are. */
export const productOf = ({ path, status }: LogLine): string | undefined => {
  if (path === undefined || status >= 500) return undefined
  const product = RULES.find((rule) => fits(rule, path))?.product
  return product === "not billed" ? undefined : product
}
