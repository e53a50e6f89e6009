/**
 * Tells plans which meters are archived.
 */
import { Effect, Layer } from "effect"
import { ArchivedMeters } from "../catalog/MeterUse.ts"
import { Collections } from "../shared/Collections.ts"
import { meters } from "./Meter.ts"

export const layer = Layer.effect(
  ArchivedMeters,
  Effect.map(Collections, (collections) => {
    const { list } = collections.of(meters)
    return (keys: ReadonlyArray<string>) =>
      Effect.filter(keys, (key) =>
        list({ key, status: "archived" }, { limit: 1, cursor: undefined }).pipe(
          Effect.catchTag("CursorNotFound", Effect.die),
          Effect.map(({ data }) => data.length > 0),
        ),
      )
  }),
)
