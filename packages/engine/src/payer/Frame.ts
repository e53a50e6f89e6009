import type { BillingDocument } from "../documents/Document.ts"
/**
 * What all pages for payers have around them.
 */
import { documentMain } from "../documents/Html.ts"
import type { Locale } from "../documents/Language.ts"
import { html, Markup } from "../documents/Markup.ts"
import { STYLE } from "../documents/Style.ts"
import type { PayerTexts } from "./Texts.ts"
import { PAYER_TEXTS } from "./Translations.ts"

/** What the pages of a host have in common. */
export interface Look {
  /** The style of the host's theme: see `styleOf`. */
  readonly style: string
  /** An address with https, or a `data:` URL. `null`: the name stands in its place. */
  readonly logo: string | null
  /** The name of the seller. Empty: the host has not said who it is. */
  readonly name: string
}

/** One page's surroundings. */
export interface Frame extends Look {
  /** The language of the words, and how numbers and dates are written. */
  readonly locale: Locale
  /** Whether it is of test mode. `null`: nobody knows. */
  readonly isTest: boolean | null
}

export const textsOf = ({ locale }: Pick<Frame, "locale">): PayerTexts => PAYER_TEXTS[locale.language]

const testBanner = (frame: Frame): Markup | null =>
  frame.isTest === true ? html`<p class="test">${textsOf(frame).test}</p>` : null

/** The logo, or the name of the seller in its place. */
const brand = ({ logo, name }: Look): Markup =>
  logo === null ? html`<div dir="auto">${name}</div>` : html`<img src="${logo}" alt="${name}" />`

/** Its texts have hashes, so nothing may come between. */
const styleElement = (style: string): Markup => new Markup(`<style>${style}</style>`)

const shell = (frame: Frame, title: string, styles: ReadonlyArray<string>, body: Markup): string =>
  html`<!doctype html>
    <html lang="${frame.locale.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>${[title, frame.name].filter((text) => text !== "").join(" · ")}</title>
        ${styles.map(styleElement)}
      </head>
      ${body}
    </html> `.text

/** A page with the host's head. */
export const framed = (frame: Frame, title: string, main: Markup): string =>
  shell(
    frame,
    title,
    [frame.style],
    html`<body>
      <header>
        ${testBanner(frame)}
        <div class="top">${brand(frame)}</div>
      </header>
      ${main}
    </body>`,
  )

/** A page with something above a document, which brings its own head. */
export const aboveDocument = (frame: Frame, document: BillingDocument, above: Markup): string =>
  shell(
    frame,
    document.title,
    [STYLE, frame.style],
    html`<body class="invoice">
      <header>${testBanner(frame)}</header>
      ${above}${documentMain(document)}
    </body>`,
  )

/** A form with one button. It has no fields: its address says all. */
export const button = (action: string, label: string, kind: "main" | "" = ""): Markup =>
  html`<form method="post" action="${action}"><button class="button ${kind}">${label}</button></form>`

/** A link that looks like a button. */
export const link = (href: string, label: string): Markup =>
  html`<a class="button" href="${href}">${label}</a>`
