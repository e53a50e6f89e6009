/**
 * Implements `billing.keys`.
 */
import { ApiKeys as ApiKeysService, ClientAddress, type IssuedApiKey as Core } from "@billwright/core"
import { Effect, Redacted } from "effect"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { ApiKeys } from "./ApiKeys.ts"

const toIssued = ({ key, secret }: Core) => ({ ...key, secret })

export const makeApiKeys = (calls: Calls): ApiKeys => {
  const keys = calls.service(ApiKeysService)
  return {
    create: (input, options) =>
      calls.run(() => Effect.map(keys.issue(toInput(input, "expiresAt")), toIssued), options),
    get: (id, options) => calls.run(() => keys.get(Ids.apiKeyId(id)), options),
    list: (query, options) =>
      makeListing(query, (page) => calls.run(() => keys.list(toOptionalInput(page)), options)),
    roll: (id, input, options) =>
      calls.run(() => Effect.map(keys.roll(Ids.apiKeyId(id), toOptionalInput(input)), toIssued), options),
    revoke: (id, options) => calls.run(() => keys.revoke(Ids.apiKeyId(id)), options),
    verify: (secret, options) =>
      calls.run(
        () =>
          keys.verify(Redacted.make(String(secret))).pipe(
            Effect.map(({ key }) => key),
            Effect.provideService(ClientAddress, () => options?.address),
          ),
        options,
      ),
  }
}
