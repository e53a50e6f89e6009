/**
 * The handlers of pages for payers. The pages are loaded with the first request.
 */
import { checkPagesUrl } from "@billwright/core"
import { problemsOfTheme } from "@billwright/engine"
import { Effect } from "effect"
import type { BillingOptions } from "../BillingOptions.ts"
import { ClosedError, ConfigurationError } from "../errors/RuntimeError.ts"
import type { Engine } from "../runtime/Engine.ts"
import * as OptionRules from "../runtime/OptionRules.ts"
import { checkOpen } from "./MountedHandlers.ts"
import { type Answer, closedAnswer, mounted } from "./MountedPages.ts"
import * as MountPath from "./MountPath.ts"
import type { PayerPageHandlers, PayerPageMount } from "./PayerPageHandlers.ts"

const { anything, boolean, fields } = OptionRules

const checkMount = OptionRules.argument({
  theme: (theme) => {
    const [problem] = problemsOfTheme(theme, "theme")
    if (problem !== undefined) throw new ConfigurationError(`${problem.path} ${problem.problem}`)
  },
  allow: fields({ pay: boolean, usage: boolean, methods: boolean, cancel: boolean }),
  basePath: anything,
})

/** The options of `createBilling` that the pages need. */
type Configured = Pick<BillingOptions, "http" | "payerPages">

const load = async (
  { calls }: Engine,
  { http: { rateLimit, trustedProxies } = {} }: Configured,
  basePath: string,
  options: PayerPageMount,
): Promise<Answer> => {
  const [{ FetchHandler }, { PayerPages }] = await Promise.all([
    import("@billwright/http"),
    import("@billwright/http/payer"),
  ])
  const { basePath: _, ...pageOptions } = options
  const pages = await Effect.runPromiseWith(calls.context)(
    PayerPages.make({
      ...pageOptions,
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(trustedProxies === undefined ? {} : { trustedProxies }),
    }),
  )
  return FetchHandler.make(pages, calls.context, { basePath })
}

const makeAnswer = (
  engine: Engine,
  configured: Configured,
  basePath: string,
  options: PayerPageMount,
): Answer => {
  let loading: Promise<Answer> | undefined
  return async (request, env) => {
    if (MountPath.strip(MountPath.targetOf(request), basePath) === undefined) return undefined
    try {
      return await engine.whileOpen(async () =>
        (await (loading ??= load(engine, configured, basePath, options)))(request, env),
      )
    } catch (error) {
      if (error instanceof ClosedError) return closedAnswer()
      throw error
    }
  }
}

export const makePayerPages =
  (engine: Engine, configured: Configured) =>
  (options: PayerPageMount = {}): PayerPageHandlers => {
    checkOpen(engine)
    const { payerPages } = configured
    if (payerPages === undefined) {
      throw new ConfigurationError(
        "pages for payers need an address and a key: createBilling({ payerPages: { url, keys } })",
      )
    }
    checkMount(options, "payerPages")
    const basePath = MountPath.normalize(options.basePath ?? new URL(checkPagesUrl(payerPages.url)).pathname)
    const answer = makeAnswer(engine, configured, basePath, options)
    return mounted({ name: "the pages for payers", basePath, answer })
  }
