import type { Plan } from "../api/Types.ts"

type Terms = Plan["terms"]

/** The names of the quantities that a plan's charges are for, such as `seats`. */
export const quantityNames = (terms: Terms | undefined): ReadonlyArray<string> => [
  ...new Set(
    (terms?.charges ?? []).flatMap((charge) =>
      "quantity" in charge && charge.quantity ? [charge.quantity] : [],
    ),
  ),
]
