/**
 * The id of a webhook endpoint. It is defined here because an event can be made for one endpoint.
 */
import { Schema } from "effect"
import * as Id from "../shared/Id.ts"

/** The prefix of endpoint ids. */
export const ENDPOINT_ID_PREFIX = "whe"

export const EndpointId = Id.schema(ENDPOINT_ID_PREFIX).pipe(Schema.brand("EndpointId"))
export type EndpointId = typeof EndpointId.Type
