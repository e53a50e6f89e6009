/**
 * Pages for payers, as a function from a request to its answer: an invoice with the way to pay it, and what a customer has
 * and owes. Whoever has a link may see its page, and nobody signs in.
 *
 * The link is checked before anything is read. A form counts only when our own page has sent it.
 */
import {
  CurrentTenant,
  type InvalidInput,
  InvoiceSettings,
  type LinkToken,
  PayerLinks,
  PayerPagesUnavailable,
} from "@billwright/core"
import { type Frame, localeOf, type NoticeKind, noticePage } from "@billwright/engine/payer"
import { Cause, Effect, Option } from "effect"
import * as ClientOf from "../server/ClientOf.ts"
import { type HttpRequest, type HttpResponse, MAX_TARGET_LENGTH } from "../server/HttpExchange.ts"
import * as RateLimit from "../server/RateLimit.ts"
import * as RequestActor from "../server/RequestActor.ts"
import { makeInvoiceRoutes } from "./InvoiceRoutes.ts"
import { PageAnswers } from "./PageAnswer.ts"
import { checkPayerPages, type PayerPageOptions, rightsOf } from "./PayerPageOptions.ts"
import { makePortalRoutes } from "./PortalRoutes.ts"
import { acceptedLocale, NOWHERE, type Visit, type Visited } from "./Visit.ts"

export { checkPayerPages, type PayerPageOptions, type PayerRights } from "./PayerPageOptions.ts"

/** Answers every request. It never fails. */
export type PayerPages = (request: HttpRequest) => Effect.Effect<HttpResponse>

/** The services that the pages need. */
export type Requirements =
  | PayerLinks
  | Effect.Services<ReturnType<typeof makeInvoiceRoutes>>
  | Effect.Services<ReturnType<typeof makePortalRoutes>>

/** The status of each page that says why there is no other one. */
const STATUS: Readonly<Record<NoticeKind, number>> = {
  wrong: 404,
  expired: 410,
  refused: 403,
  impossible: 409,
  tooMany: 429,
  providerFailed: 503,
  unavailable: 503,
}
/**
 * How often something may be done with what a link is for, besides looking at its page: pay, begin a card, make a PDF, ask
 * the provider how things stand. Nobody does that often, except a program that tries stolen cards.
 */
const ACTIONS = { requestsPerSecond: 0.2, burst: 30 }
const METHODS = "GET, HEAD, POST"
/** `/invoices/<token>`, and what follows. */
const PATH = /^\/(invoices|account)\/([^/]+)(?:\/(.+))?$/

/**
 * Whether our own page has sent a form. Pages with links tell no referrer, so their `Origin` is `null` in browsers, and
 * `Sec-Fetch-Site` says it. Browsers without that header send the origin.
 */
const isOurs = ({ header }: HttpRequest, origin: string): boolean => {
  const site = header("sec-fetch-site")
  return site === undefined ? header("origin") === origin : site === "same-origin"
}

/** Names what a link is for. All links to it share its limits, and only links that we have signed count. */
const subjectOf = ({ id, tenant }: LinkToken.LinkClaims): string =>
  [tenant.accountId, tenant.mode, id].join(".")

/** What can't be done now. A customer may have been erased since the page was shown. */
const IMPOSSIBLE = new Set(["ActionUnavailable", "CustomerNotFound", "InvalidInput", "PdfUnavailable"])

/** What to say about a failure. `undefined`: it is a bug, or the storage is out of reach. */
const kindOf = (error: unknown): NoticeKind => {
  const tag = (error as { readonly _tag?: string } | undefined)?._tag
  if (tag === "PaymentProviderUnavailable") return "providerFailed"
  return tag !== undefined && IMPOSSIBLE.has(tag) ? "impossible" : "unavailable"
}

/**
 * Makes the pages from the library's services. Fails with `PayerPagesUnavailable` if the host has not said where they are, and with
 * `InvalidInput` if one of `trustedProxies` is not a network. Throws a `TypeError` that names an option that is wrong.
 */
export const make = (
  options: PayerPageOptions = {},
): Effect.Effect<PayerPages, InvalidInput | PayerPagesUnavailable, Requirements> =>
  Effect.gen(function* () {
    checkPayerPages(options)
    const clientOf = yield* ClientOf.make(options.trustedProxies)
    const links = yield* PayerLinks
    const base = links.url ?? (yield* new PayerPagesUnavailable())
    const { origin, pathname } = new URL(base)
    const prefix = pathname.replace(/\/$/, "")
    const { locale, seller, timezone } = yield* InvoiceSettings
    const { theme = {} } = options
    const answers = new PageAnswers(theme)
    const allow = rightsOf(options)
    const limitAll = RateLimit.make(options.rateLimit, RateLimit.ofKey)
    const limitActions = RateLimit.make(ACTIONS, RateLimit.ofKey)
    const routes = {
      invoice: yield* makeInvoiceRoutes(allow),
      portal: yield* makePortalRoutes(allow, timezone, locale),
    }

    const frameOf = (ofReader: Frame["locale"], isTest: boolean | null): Frame => ({
      style: answers.style,
      logo: theme.logo ?? seller?.logo ?? null,
      name: seller?.name ?? "",
      locale: ofReader,
      isTest,
    })

    const say = (
      frame: Frame,
      kind: NoticeKind,
      back: string | null,
      headers?: Readonly<Record<string, string>>,
    ): HttpResponse => answers.page(STATUS[kind], noticePage(frame, kind, back), headers)

    /** Counts a visit. Answers instead of the page if there were too many. */
    const limited = ({ claims, frame, isPost, path, rest }: Visit, strange: Frame) => {
      const subject = subjectOf(claims)
      const isAction = isPost || rest.length > 0
      return limitAll(subject).pipe(
        Effect.andThen(isAction ? limitActions(subject) : Effect.void),
        Effect.as(undefined),
        Effect.catchTag("RateLimited", ({ retryAfterSeconds }) =>
          Effect.succeed(
            say(frame(strange.locale.tag), "tooMany", path, { "retry-after": String(retryAfterSeconds) }),
          ),
        ),
      )
    }

    /** `strange`: what a page has around it for somebody of whom nothing is known. */
    const visited = (visit: Visit, strange: Frame): Effect.Effect<HttpResponse> => {
      const frame = visit.frame(strange.locale.tag)
      const run: Visited = routes[visit.claims.kind](visit)
      return run.pipe(
        Effect.provideService(CurrentTenant, visit.claims.tenant),
        Effect.map((answer) => (answer === NOWHERE ? say(strange, "wrong", null) : answer)),
        Effect.catchCause((cause) => {
          if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
          const error = Option.getOrUndefined(Cause.findErrorOption(cause))
          const kind = kindOf(error)
          const answer = Effect.succeed(say(frame, kind, visit.isPost ? visit.path : null))
          // The path is not logged: it has the link in it.
          return kind === "impossible"
            ? answer
            : Effect.andThen(Effect.logError(`a page for payers was answered ${STATUS[kind]}`, cause), answer)
        }),
      )
    }

    const open = Effect.fnUntraced(function* (request: HttpRequest) {
      const { method, path, query } = request
      const strange = frameOf(acceptedLocale(request.header("accept-language"), locale), null)
      if (!METHODS.split(", ").includes(method))
        return answers.page(405, noticePage(strange, "refused", null), { allow: METHODS })
      const [, folder, token, rest] =
        path.length + query.length > MAX_TARGET_LENGTH ? [] : (PATH.exec(path) ?? [])
      if (folder === undefined || token === undefined) return say(strange, "wrong", null)
      const claims = yield* links.open(token)
      if (typeof claims === "string") return say(strange, claims, null)
      if (folder !== (claims.kind === "invoice" ? "invoices" : "account")) return say(strange, "wrong", null)
      const isPost = method === "POST"
      if (isPost && !isOurs(request, origin)) return say(strange, "refused", null)
      const visit: Visit = {
        claims,
        rest: rest === undefined ? [] : rest.split("/"),
        isPost,
        query,
        path: `${prefix}/${folder}/${token}`,
        address: `${base}/${folder}/${token}`,
        origin: RequestActor.originOf(request, clientOf, null),
        answers,
        frame: (tag) => {
          const own = localeOf(tag, locale)
          const isOwn = claims.language === null || claims.language === own.language
          return frameOf(isOwn ? own : localeOf(claims.language), claims.tenant.mode === "test")
        },
      }
      return (yield* limited(visit, strange)) ?? (yield* visited(visit, strange))
    })

    return (request) =>
      Effect.map(open(request), (answer) =>
        request.method === "HEAD" ? { status: answer.status, headers: answer.headers, body: "" } : answer,
      )
  })
