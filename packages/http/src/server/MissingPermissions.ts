/**
 * Tells the dashboard's page what its operator may not do, so that it doesn't offer what would be refused. Each answer says it,
 * because a host may change the role of an operator at any time.
 */
import { ApiKey } from "@billwright/core"
import type { HttpRequest } from "./HttpExchange.ts"
import * as Routes from "./Routes.ts"

/** The page sends it with each request. Other clients have no use for the answer. */
const PAGE_HEADER = "billwright-dashboard"
/** The missing permissions, separated by spaces. */
const HEADER = "billwright-missing-permissions"
/** Proxies may drop a header without a value. */
const NONE = "none"

const missingOf = ({ scopes }: ApiKey.ApiKey): string =>
  [...Routes.permissions].filter((permission) => !ApiKey.permits(scopes, permission)).join(" ")

/** The header for the answer to a request. There is none without a valid key. */
export const headersFor = (
  request: HttpRequest,
  key: ApiKey.ApiKey | undefined,
): Readonly<Record<string, string>> =>
  key === undefined || request.header(PAGE_HEADER) === undefined ? {} : { [HEADER]: missingOf(key) || NONE }
