/**
 * A request with a link that is valid.
 */
import { Actor, CurrentActor, type CurrentTenant, type InvalidInput, type LinkToken } from "@billwright/core"
import { type Frame, type Locale, localeOf } from "@billwright/engine/payer"
import { Effect } from "effect"
import type { DomainError } from "../server/ErrorResponse.ts"
import type { HttpResponse } from "../server/HttpExchange.ts"
import type { PageAnswers } from "./PageAnswer.ts"

export interface Visit {
  readonly claims: LinkToken.OpenedLink
  /** The parts of the path after the token. */
  readonly rest: ReadonlyArray<string>
  readonly isPost: boolean
  /** The query string without `?`. */
  readonly query: string
  /** The path of the link's page, as the browser sees it: `/billing/invoices/…`. */
  readonly path: string
  /** The same with scheme and host, for a provider that sends the payer back. */
  readonly address: string
  /** Where the request came from. */
  readonly origin: Pick<Actor.Actor, "ip" | "requestId" | "userAgent">
  readonly answers: PageAnswers
  /** What a page has around it, in a language that its link does not name otherwise. */
  readonly frame: (language: string | null) => Frame
}

/** There is no such page, or nothing that the link was for is there any more. Both look the same. */
export const NOWHERE = "nowhere"

/** Answers a visit. `NOWHERE` is answered like a link that is wrong. */
export type Visited = Effect.Effect<HttpResponse | typeof NOWHERE, DomainError | InvalidInput, CurrentTenant>

/** Answers a visit for the customer that its link is for: the audit log says that it was their payer, and from where. */
export const byPayer = (visit: Visit, customerId: string, visited: Visited): Visited =>
  Effect.provideService(visited, CurrentActor, { ...Actor.payer(customerId), ...visit.origin })

/** Longest `accept-language` that is looked at, in characters. */
const MAX_ACCEPTED = 500

/** The language that a browser asks for first, of those that there are. */
export const acceptedLocale = (accepted: string | undefined, fallback: string): Locale => {
  const tags = (accepted ?? "")
    .slice(0, MAX_ACCEPTED)
    .split(",")
    .map((entry) => {
      const [tag = "", ...parameters] = entry.trim().split(";")
      const quality = parameters.map((text) => /^\s*q=([\d.]+)/.exec(text)?.[1]).find(Boolean)
      return { tag: tag.trim(), quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
  return localeOf(...tags.map(({ tag }) => tag), fallback)
}
