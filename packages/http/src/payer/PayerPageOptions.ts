/**
 * How pages for payers look, and what payers may do there.
 */
import { problemsOfTheme, type Theme } from "@billwright/engine"
import type { RateLimitOptions } from "../server/RateLimit.ts"

/** What payers may do. Each is `true` by default. What is `false` is neither shown nor possible. */
export interface PayerRights {
  /** Pay invoices by the payment provider. */
  readonly pay?: boolean
  /** See the usage of the period with what it costs. */
  readonly usage?: boolean
  /** See payment methods, add one, and choose the default or the one that pays. Without it, the default pays. */
  readonly methods?: boolean
  /** Cancel a subscription at the end of its period, and take that back. */
  readonly cancel?: boolean
}

export interface PayerPageOptions {
  readonly theme?: Theme
  readonly allow?: PayerRights
  /** How many requests an invoice or a customer's pages may get in this process. Default: no limit. */
  readonly rateLimit?: RateLimitOptions
  /** The networks of your own proxies, as for the server: behind them, the payer's address is read from `x-forwarded-for`. */
  readonly trustedProxies?: ReadonlyArray<string>
}

const RIGHTS = ["pay", "usage", "methods", "cancel"] as const

const checkRights = (allow: unknown): void => {
  const problem = `must be an object of ${RIGHTS.join(", ")}, each true or false`
  if (typeof allow !== "object" || allow === null) throw new TypeError(`payerPages.allow ${problem}`)
  for (const [name, value] of Object.entries(allow)) {
    if (!(RIGHTS as ReadonlyArray<string>).includes(name)) throw new TypeError(`payerPages.allow ${problem}`)
    if (typeof value !== "boolean") throw new TypeError(`payerPages.allow.${name} must be true or false`)
  }
}

/** Throws a `TypeError` that names the wrong option. */
export const checkPayerPages = ({ allow, theme }: PayerPageOptions): void => {
  const [problem] = theme === undefined ? [] : problemsOfTheme(theme, "payerPages.theme")
  if (problem !== undefined) throw new TypeError(`${problem.path} ${problem.problem}`)
  if (allow !== undefined) checkRights(allow)
}

/** Rights of which none is missing. */
export type AllRights = Required<PayerRights>

export const rightsOf = ({ allow = {} }: PayerPageOptions): AllRights => ({
  pay: allow.pay ?? true,
  usage: allow.usage ?? true,
  methods: allow.methods ?? true,
  cancel: allow.cancel ?? true,
})
