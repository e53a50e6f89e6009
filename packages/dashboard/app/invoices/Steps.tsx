import type { RatingStep } from "../api/Types.ts"
import { textsOf } from "./StepTexts.ts"

/** A computation, step by step. */
export const Steps = ({
  currency,
  steps,
}: {
  readonly steps: ReadonlyArray<RatingStep>
  readonly currency: string
}) => (
  <ol aria-label="Computation" className="rating-steps">
    {textsOf(steps, currency).map(({ amount, isSoFar, text }, index) => {
      return (
        <li className={isSoFar ? "so-far" : ""} key={index}>
          <span className="grow">{text}</span>
          {amount !== undefined && (
            <span className="amount">
              {isSoFar && "= "}
              {amount}
            </span>
          )}
        </li>
      )
    })}
  </ol>
)
