/**
 * The id of an event.
 */
import { Schema } from "effect"
import * as Id from "../shared/Id.ts"

/** The prefix of event ids. */
export const EVENT_ID_PREFIX = "evt"

export const EventId = Id.schema(EVENT_ID_PREFIX).pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type
