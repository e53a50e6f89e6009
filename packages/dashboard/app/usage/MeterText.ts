import type { Meter } from "../api/Types.ts"

/** A definition in words: `unique_count of user by model, kind`. */
export const definitionText = ({
  aggregation,
  counted,
  dimensions,
}: Pick<Meter, "aggregation" | "counted" | "dimensions">): string =>
  `${aggregation}${counted === null ? "" : ` of ${counted}`}${dimensions.length === 0 ? "" : ` by ${dimensions.join(", ")}`}`
