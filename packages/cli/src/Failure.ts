/**
 * What can end a command, other than success and bugs: each with a sentence for people as its message.
 */
import type { ApiKey, InvalidInput, InvalidKeyring } from "@billwright/core"
import type { ListenError } from "@billwright/http/node"
import type { ApiFailure } from "./ApiClient.ts"
import type { AuditFailed } from "./Audit.ts"
import type { Undelivered } from "./DeliveryWait.ts"
import type { EncryptionFailure } from "./Encryption.ts"
import type { StoreFailure } from "./Store.ts"
import type { UnknownEventType } from "./Trigger.ts"

export type Failure =
  | ApiFailure
  | ApiKey.ApiKeyNotFound
  | AuditFailed
  | EncryptionFailure
  | InvalidInput
  | InvalidKeyring
  | ListenError
  | StoreFailure
  | Undelivered
  | UnknownEventType
