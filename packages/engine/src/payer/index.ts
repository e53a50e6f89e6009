/**
 * Pages for payers: how an invoice stands and how it is paid, in four languages and the colours of the host. Pure, as all of
 * the engine.
 */
export { Format } from "../documents/Format.ts"
export { type Language, type Locale, localeOf } from "../documents/Language.ts"
export { STYLE_HASH } from "../documents/Style.ts"
export { type Frame, type Look, textsOf } from "./Frame.ts"
export { invoicePage, type InvoicePageView, type PayState, type PayWays } from "./InvoicePage.ts"
export type { MethodView } from "./Method.ts"
export { leavingPage, type NoticeKind, noticePage } from "./Notice.ts"
export {
  type AmountView,
  cancelPage,
  type CancelPageView,
  type InvoiceView,
  type PlanView,
  portalPage,
  type PortalMethod,
  type PortalPageView,
  type UsageView,
} from "./PortalPage.ts"
export { styleOf } from "./Style.ts"
export type { PayerTexts } from "./Texts.ts"
export { PAYER_TEXTS } from "./Translations.ts"
export { contrast } from "./Theme.ts"
