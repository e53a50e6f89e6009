/**
 * Which scope an operation needs: an annotation of its definition.
 */
import type { ApiKey } from "@billwright/core"
import { Context } from "effect"

/** The scope that a key needs for the operation. */
export class RequiredPermission extends Context.Service<RequiredPermission, ApiKey.Permission>()(
  "@billwright/http/api/RequiredPermission",
) {}
