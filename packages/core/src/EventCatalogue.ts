/**
 * The event types that there are without defining any.
 */
import type { Layer } from "effect"
import { type EventType, EventTypes } from "./events/EventType.ts"
import { hostEvents } from "./events/HostEvents.ts"
import { usageThreshold } from "./usage/ThresholdEvent.ts"

/** The types that every catalogue has. A host's type of the same name takes the place of one of these. */
export const builtIn: ReadonlyArray<EventType> = [...hostEvents, usageThreshold]

/** The built-in types and the host's own. */
export const layerWith = (own: ReadonlyArray<EventType>): Layer.Layer<EventTypes> =>
  EventTypes.layerWith([...builtIn, ...own])

/** The built-in types alone. */
export const layer: Layer.Layer<EventTypes> = layerWith([])
