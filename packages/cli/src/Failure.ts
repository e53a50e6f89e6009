/**
 * The errors that can end a command, except bugs. Each message is a sentence for people.
 */
import type {
  ApiKey,
  Customer,
  InvalidInput,
  InvalidKeyring,
  InvoicingUnsupported,
  SnapshotTooLarge,
} from "@billwright/core"
import type { ListenError } from "@billwright/http/node"
import type { ApiFailure } from "./ApiClient.ts"
import type { AuditFailed } from "./AuditFailed.ts"
import type { BillingFailed } from "./Bill.ts"
import type { PlansRefused } from "./Catalog.ts"
import type { Undelivered } from "./DeliveryWait.ts"
import type { EncryptionFailure } from "./Encryption.ts"
import type { PepperFailure } from "./Pepper.ts"
import type { PlanFileError } from "./PlanFile.ts"
import type { PlansDiffer } from "./PlansDiffer.ts"
import type { RiseTooLarge } from "./RiseTooLarge.ts"
import { rootOf } from "./RootMessage.ts"
import type { StoreFailure } from "./Store.ts"
import type { UnknownEventType } from "./Trigger.ts"

export type Failure =
  | ApiFailure
  | ApiKey.ApiKeyNotFound
  | AuditFailed
  | BillingFailed
  | Customer.CustomerNotFound
  | EncryptionFailure
  | InvalidInput
  | InvalidKeyring
  | InvoicingUnsupported
  | ListenError
  | PepperFailure
  | PlanFileError
  | PlansDiffer
  | PlansRefused
  | RiseTooLarge
  | SnapshotTooLarge
  | StoreFailure
  | Undelivered
  | UnknownEventType

/** The message for people. For errors of the database it includes the innermost cause. */
export const sentenceOf = (error: Failure): string => {
  if (error._tag !== "StorageError" && error._tag !== "SqlError") return error.message
  const root = rootOf(error)
  return root === error.message ? root : `${error.message}: ${root}`
}
