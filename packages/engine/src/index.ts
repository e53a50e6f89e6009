/**
 * The engine: exact money, charges of plans, rating with an explanation, and the rules of invoices and payments.
 */
export * as Allocate from "./money/Allocate.ts"
export * as Currency from "./money/Currency.ts"
export * as Exact from "./money/Exact.ts"
export type {
  BooleanFeature,
  ConfigFeature,
  Feature,
  Grant,
  Interval,
  MeteredFeature,
  PlanDefinition,
  PlanNames,
  PlanTerms,
  Policy,
  Rollover,
} from "./catalog/Plan.ts"
export { termsOf } from "./catalog/Plan.ts"
export { canonicalJson } from "./catalog/CanonicalJson.ts"
export { definePlan } from "./catalog/DefinePlan.ts"
export type { ChargeKeyOf, DefinedPlan, FeatureKeyOf, PlanInput } from "./catalog/DefinePlan.ts"
export { changesOf } from "./catalog/PlanChanges.ts"
export type { FieldChange } from "./catalog/PlanChanges.ts"
export { pricesEachRecord } from "./catalog/Charge.ts"
export { isKey } from "./catalog/FieldRules.ts"
export { FEATURE_LIMITS, isPlan, PLAN_LIMITS, problemsOfPlan } from "./catalog/PlanRules.ts"
export { planSchemas } from "./catalog/PlanSchema.ts"
export type { JsonSchema } from "./catalog/ObjectSchema.ts"
export { pathTo } from "./catalog/Problem.ts"
export { previewPlan } from "./rating/Preview.ts"
export type { PlanPreview, PreviewInput, PreviewLine } from "./rating/Preview.ts"
export * from "./rating/index.ts"
export { declaredDecimals, type DecimalsOf, decimalsIn, problemsOfCreditUnits } from "./rating/Units.ts"
export type { RateCard, TokenPrices } from "./tokens/RateCard.ts"
export { problemsOfRateCard, RATE_CARD_LIMITS } from "./tokens/RateCard.ts"
export { rateCardSchemas } from "./tokens/RateCardSchema.ts"
export { rateTokens, tokenRater } from "./tokens/RateTokens.ts"
export type {
  MarkupStep,
  RatedTokens,
  TokenRater,
  TokenRating,
  TokenRatingStep,
  TokensOfModel,
  TokensRoundStep,
  TokensStep,
  UnratedTokens,
} from "./tokens/RateTokens.ts"
export { MAX_TOKENS, TOKEN_KINDS, tokens } from "./tokens/Tokens.ts"
export type {
  AiSdkUsage,
  ChatCompletionsUsage,
  GeminiUsage,
  MessagesUsage,
  ProviderUsage,
  ResponsesUsage,
  TokenCounts,
  TokenKind,
} from "./tokens/Tokens.ts"
export { stepSchemas } from "./rating/StepSchema.ts"
export type {
  BillingEffect,
  BillingKind,
  Effect,
  EventEffect,
  SubscriptionEventType,
} from "./subscriptions/Effect.ts"
export type {
  Cancel,
  Change,
  Command,
  CommandTime,
  Create,
  Due,
  Pause,
  PlanVersion,
  Resume,
  Uncancel,
} from "./subscriptions/Input.ts"
export * as LocalTime from "./subscriptions/LocalTime.ts"
export { linesOf } from "./subscriptions/Lines.ts"
export type { PeriodInput } from "./subscriptions/PeriodInput.ts"
export {
  type Action,
  availableActions,
  type DueKind,
  isRejected,
  nextDue,
  type Rejected,
  step,
  type Stepped,
} from "./subscriptions/Machine.ts"
export type { Documented, PeriodLine, PeriodLineKind } from "./subscriptions/PeriodLine.ts"
export * as Periods from "./subscriptions/Periods.ts"
export { type Measure, type Share, sharesOf } from "./subscriptions/Proration.ts"
export type {
  BillChange,
  CreditPolicy,
  PendingChange,
  Period,
  Phase,
  PlanChange,
  PlanVersionRef,
  Quantities,
  ResumeAnchor,
  Segment,
  Segments,
  Subscription,
  TrialUsage,
} from "./subscriptions/Subscription.ts"
export type {
  LineCredit,
  CreditNote,
  CreditNoteAmounts,
  CreditNoteLine,
  CreditNoteReason,
  CreditRequest,
} from "./invoices/CreditNote.ts"
export { CREDIT_NOTE_REASONS, creditNoteAmounts, leftOfLines } from "./invoices/CreditNote.ts"
export type { Applied, Assembled, AssembleInput, DiscountInput } from "./invoices/Assemble.ts"
export { assemble, INVOICE_LIMITS, taxLines } from "./invoices/Assemble.ts"
export type { NumberedDocument } from "./invoices/Checks.ts"
export {
  problemsOfCreditNotes,
  problemsOfLines,
  problemsOfSeries,
  problemsOfSums,
} from "./invoices/Checks.ts"
export type { Coupon, CouponDuration } from "./invoices/Coupon.ts"
export { problemsOfCoupon } from "./invoices/Coupon.ts"
export type { CouponInput, CreditInput, Discount, DiscountPart } from "./invoices/Discounts.ts"
export { EU_COUNTRIES, EU_STANDARD_RATES, EU_STANDARD_RATES_AS_OF } from "./invoices/EuVat.ts"
export type {
  InvoiceAction,
  CollectionState,
  Invoice,
  InvoiceHeader,
  InvoiceStatus,
} from "./invoices/Invoice.ts"
export { documentText, issuedText } from "./invoices/Invoice.ts"
export { InvoiceError } from "./invoices/InvoiceError.ts"
export type { InvoiceStep } from "./invoices/InvoiceStep.ts"
export { foldInvoice, InvoiceExplanationError } from "./invoices/InvoiceStep.ts"
export type { Line, LineInput, LineKind, LineOrigin, LineRef, Receipt, Scope } from "./invoices/Line.ts"
export { stepsOfAmount } from "./invoices/Line.ts"
export type {
  InvoiceChange,
  InvoiceEvent,
  InvoiceInput,
  InvoiceRejection,
  InvoiceTransition,
} from "./invoices/Machine.ts"
export { applyToInvoice, draftOf, redraft, INVOICE_TRANSITIONS, withActions } from "./invoices/Machine.ts"
export type { NumberSeries, TakenNumber } from "./invoices/Numbering.ts"
export {
  dueAtOf,
  issuedAtAfter,
  MAX_NUMBERS_AT_ONCE,
  problemsOfNumberFormat,
  readNumber,
  takeNumbers,
  writeNumber,
} from "./invoices/Numbering.ts"
export type { Allowance, Redemption, RedemptionContext } from "./invoices/Redemption.ts"
export { afterUse, allowanceOf, isUsedUp, problemsOfRedemption, redeem } from "./invoices/Redemption.ts"
export type {
  Tax,
  TaxBehavior,
  TaxCategory,
  TaxCustomer,
  TaxLine,
  TaxQuote,
  TaxRate,
  TaxRequest,
  TaxStatus,
} from "./invoices/Tax.ts"
export { NOT_TAXED, problemsOfQuote, quoteOf, TAX_NOT_KNOWN } from "./invoices/Tax.ts"
export type { TaxTable, TaxTableRate } from "./invoices/TaxTable.ts"
export { problemsOfTaxTable, quoteByTable, STANDARD_TAX_CODE } from "./invoices/TaxTable.ts"
export type {
  CreditAccount,
  CreditBalance,
  CreditChange,
  CreditEntry,
  CreditGrant,
  CreditHold,
  CreditLedger,
  EntryKind,
  GrantKind,
  GrantRollover,
  GrantStatus,
  HoldSlice,
  HoldStatus,
} from "./credits/Ledger.ts"
export { availableBy, NO_CREDITS } from "./credits/Ledger.ts"
export type { Proof, ProofPlace, ProofPlan, ProofTax } from "./proofs/ProofDocument.ts"
export { FIRST_PREVIOUS, plansOfInvoice, proofOf, proofText } from "./proofs/ProofDocument.ts"
export type { Burning, BurningUse, BurntPart, GiveBack, Unused } from "./credits/Burning.ts"
export { burnCredits, unburnCredits } from "./credits/Burning.ts"
export { unusedSince } from "./credits/Unused.ts"
export { PAST_KINDS } from "./credits/Draft.ts"
export type { CreditUse, InvoiceCredits } from "./credits/InvoiceCredits.ts"
export { applyCredits, creditUsesOf, invoiceCreditsOf, restoreCredits } from "./credits/InvoiceCredits.ts"
export type { GrantTarget, PlanGrant, PlanGrantStep } from "./credits/PlanGrants.ts"
export { adjustPlanGrants, planGrantsOf } from "./credits/PlanGrants.ts"
export type { Consumed, Overdraft, Settled as SettledHold } from "./credits/Operations.ts"
export {
  availableFor,
  chargeCredits,
  closeAccount,
  commitHold,
  consumeCredits,
  extendHold,
  grantAt,
  grantCredits,
  holdAt,
  fallsBelow,
  isExhausted,
  releaseHold,
  reserveCredits,
  settleCredits,
  voidGrant,
} from "./credits/Operations.ts"
export type { Chargeable, Money } from "./payments/Chargeable.ts"
export { notClosed } from "./payments/Close.ts"
export type {
  Attempt,
  AttemptStatus,
  Attention,
  AttentionCode,
  Collection,
  CollectionInput,
  CollectionStep,
  Decline,
  DeclineAdvice,
  PaymentRead,
} from "./payments/Collection.ts"
export { IDLE } from "./payments/Collection.ts"
export type { Collected, CollectionCause, CollectionEvent, Unchanged } from "./payments/Machine.ts"
export {
  collect,
  COLLECTION_TRANSITIONS,
  isRequested,
  isUnderWay,
  mayTakeMoney,
  stepOf,
} from "./payments/Machine.ts"
export { payStepOf } from "./payments/Pay.ts"
export type { PayStep } from "./payments/Pay.ts"
export type { Payment, PaymentStatus, Success } from "./payments/Payment.ts"
export { problemsOfPayments, successOf } from "./payments/Payment.ts"
export type {
  DisputeAmounts,
  DisputeStatus,
  PaidInvoice,
  RefundAmounts,
  RefundInput,
  RefundStatus,
  RefundStep,
  Returned,
} from "./payments/Refund.ts"
export {
  creditableOf,
  nextRefundRead,
  refundableOf,
  restorationOf,
  reversalOf,
  reverseInvoice,
  reversalsOf,
  stepRefund,
} from "./payments/Refund.ts"
export type { CardExpiry, SavedMethod, SetupRead } from "./payments/PaymentMethod.ts"
export { expiringFrom, nextSetupRead, SETUP_READS } from "./payments/PaymentMethod.ts"
export {
  ANSWER_MILLIS,
  CLOSE_DELAYS,
  DECLINE_CODES,
  MAX_DECLINES_OF_METHOD,
  RESEND_MILLIS,
  RETRY_DAYS,
  UNRESOLVED_DELAYS,
  WAITING_DELAYS,
} from "./payments/Retry.ts"
export type { TermsOf } from "./subscriptions/Runs.ts"
export { type Cause, type SharedEffect, stepTogether, togetherOf } from "./subscriptions/Together.ts"
export { periodUntil, usageCost } from "./subscriptions/Spend.ts"
export { type Total, usageQueries, type UsageQuery, type UsageTotal } from "./subscriptions/Usage.ts"
export {
  type CountedTime,
  countedTime,
  type Entitled,
  entitledAt,
  isPastGrace,
} from "./entitlements/Allowance.ts"
export {
  decideEntitlement,
  type EntitlementDecision,
  type EntitlementReason,
  featureOf,
  type FeatureSource,
  isAllowed,
  limitOf,
} from "./entitlements/Decide.ts"
export {
  type CountedPeriod,
  countedPeriods,
  MAX_ROLLOVER_PERIODS,
  type PeriodsOfFeature,
  rolledOver,
} from "./entitlements/Rollover.ts"
export { type PostalAddress, problemsOfSeller, type Seller } from "./documents/Seller.ts"
export type { CreditNoteDocumentInput } from "./documents/CreditNoteDocument.ts"
export type { DocumentSettings, InvoiceDocumentInput } from "./documents/InvoiceDocument.ts"
export type { Recipient } from "./documents/Parties.ts"
export { problemsOfTheme, type Theme, type ThemeColors } from "./payer/Theme.ts"
export type { BookAccount, JournalEntry, JournalKind, Posting } from "./books/Journal.ts"
export { BOOK_ACCOUNTS, JOURNAL_KINDS, trialBalance } from "./books/Journal.ts"
export { type InvoiceDocuments, journalOfInvoice, type MoneyBack } from "./books/InvoiceJournal.ts"
export { type GrantDocuments, type GrantPrice, journalOfGrant } from "./books/GrantJournal.ts"
export { netsOfNote } from "./books/NoteNets.ts"
export { JOURNAL_FORMATS, type JournalFormat, journalHead, journalText } from "./books/Export.ts"
