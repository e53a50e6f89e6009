/**
 * All operations of the API that need a key, from their definitions.
 */
import type { ApiKey } from "@billwright/core"
import { BillwrightApi, RequiredPermission } from "@billwright/http/api"
import { Context, Option } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

export interface SecuredOperation {
  readonly id: string
  readonly method: string
  /** With parameters as `:id`. */
  readonly path: string
  readonly permission: ApiKey.Permission
}

export const securedOperations: ReadonlyArray<SecuredOperation> = Object.values(BillwrightApi.groups).flatMap(
  (group) =>
    (Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>).flatMap((endpoint) => {
      const permission = Context.getOption(endpoint.annotations, RequiredPermission)
      return Option.isNone(permission)
        ? []
        : [
            {
              id: endpoint.identifier,
              method: endpoint.method,
              path: endpoint.path,
              permission: permission.value,
            },
          ]
    }),
)
