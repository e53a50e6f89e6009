/**
 * Pages for payers in the host's own server.
 */
import type { DashboardHandlers } from "./DashboardHandlers.ts"

/** Where the pages for payers are, and which keys sign the links to them. */
export interface PayerPagesOptions {
  /**
   * The address that the pages are mounted at, as payers' browsers see it, such as `https://shop.example/billing`. It
   * begins with `https://`, or with `http://` on this machine. Links contain it, whatever host a request names.
   */
  readonly url: string
  /**
   * The keys that sign links, each `<id>:<base64 of 32 bytes>`. `generateEncryptionKey()` makes one. Don't use one that
   * encrypts. The first key signs, and all of them open links, so that a key can be replaced. A link stops working when its
   * key is removed. `{ file }`: the keys are read from this file, which is created when it doesn't exist.
   */
  readonly keys: string | ReadonlyArray<string> | { readonly file: string }
}

/** Colours such as `#0b7285`. Text and accent need a contrast of 4.5 to the background. */
export interface PayerThemeColors {
  /** Buttons and links. */
  readonly accent?: string
  readonly background?: string
  readonly text?: string
}

/** How the pages look. Without it, they are grey and blue, and dark where the reader prefers that. */
export interface PayerTheme extends PayerThemeColors {
  /** The colours where the reader prefers dark pages. Default: the same colours, if you give any. */
  readonly dark?: PayerThemeColors
  /**
   * The address of a picture, such as `https://cdn.example/logo.svg`. Pages may load pictures from its host. Default: the
   * logo of `invoices.seller`, or its name.
   */
  readonly logo?: string
}

/** What payers may do. Each is `true` by default. What is `false` is neither shown nor possible. */
export interface PayerRights {
  /** Pay invoices by the payment provider. */
  readonly pay?: boolean
  /** See the usage of the period with what it costs. */
  readonly usage?: boolean
  /** See payment methods, add one, and choose the default. */
  readonly methods?: boolean
  /** Cancel a subscription at the end of its period, and take that back. */
  readonly cancel?: boolean
}

/** How the pages look, and what payers may do there. */
export interface PayerPageMount {
  readonly theme?: PayerTheme
  readonly allow?: PayerRights
  /** The path that the pages are mounted at, if a proxy changes it. Default: the path of `payerPages.url`. */
  readonly basePath?: string
}

/** Handlers for the pages, below their path. They need no login: whoever has a link may see its page. */
export type PayerPageHandlers = DashboardHandlers
