/**
 * The annotation for the scope that an operation needs.
 */
import type { ApiKey } from "@billwright/core"
import { Context } from "effect"

/** The scope that an API key needs for the operation. */
export class RequiredPermission extends Context.Service<RequiredPermission, ApiKey.Permission>()(
  "@billwright/http/api/RequiredPermission",
) {}
