/**
 * What can end a command, other than success and bugs: each with a sentence for people as its message.
 */
import type { ApiKey, InvalidInput } from "@billwright/core"
import type { ListenError } from "@billwright/http/node"
import type { AuditFailed } from "./Audit.ts"
import type { StoreFailure } from "./Store.ts"

export type Failure = ApiKey.ApiKeyNotFound | AuditFailed | InvalidInput | ListenError | StoreFailure
