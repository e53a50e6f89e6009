/**
 * Pages that say one thing.
 */
import { html, type Markup } from "../documents/Markup.ts"
import { type Frame, framed, link, textsOf } from "./Frame.ts"

/** What a page may say instead of what was asked for. */
export type NoticeKind =
  | "wrong"
  | "expired"
  | "refused"
  | "impossible"
  | "tooMany"
  | "providerFailed"
  | "unavailable"

const notice = (frame: Frame, title: string, text: string, more: Markup | null): string =>
  framed(
    frame,
    title,
    html`<main class="notice">
      <h1>${title}</h1>
      <p>${text}</p>
      ${more}
    </main>`,
  )

/** `back`: the path of the page to go back to, if there is one. */
export const noticePage = (frame: Frame, kind: NoticeKind, back: string | null): string => {
  const texts = textsOf(frame)
  const titles: Readonly<Record<NoticeKind, readonly [string, string]>> = {
    wrong: [texts.wrong, texts.wrongMore],
    expired: [texts.expired, texts.expiredMore],
    refused: [texts.refused, texts.refusedMore],
    impossible: [texts.failed, texts.impossible],
    tooMany: [texts.tooMany, texts.tooManyMore],
    providerFailed: [texts.failed, texts.providerFailed],
    unavailable: [texts.failed, texts.unavailable],
  }
  const [title, text] = titles[kind]
  return notice(
    frame,
    title,
    text,
    back === null ? null : html`<div class="actions">${link(back, texts.back)}</div>`,
  )
}

/** The payer is taken to a page of the payment provider. The answer's `refresh` header does that. */
export const leavingPage = (frame: Frame, url: string): string => {
  const texts = textsOf(frame)
  const more = html`<div class="actions">
    <a class="button main" href="${url}" rel="noreferrer">${texts.continue}</a>
  </div>`
  return notice(frame, texts.leaving, texts.leavingMore, more)
}
