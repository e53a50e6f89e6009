import type { DueFailure } from "../api/Types.ts"
import { Time } from "./Time.tsx"

/** Why something that was due could not be done, and when it is tried again. */
export const FailureNotice = ({
  failure: { at, attempts, problem, retry_at: retryAt },
}: {
  readonly failure: DueFailure
}) => (
  <div className="notice warning" role="status">
    <p>{problem}</p>
    <p className="muted">
      Failed {attempts === 1 ? "once" : `${attempts} times`}, last <Time at={at} />.{" "}
      {retryAt === null ? (
        "It is not tried again before somebody changes something."
      ) : (
        <>
          Tried again <Time at={retryAt} />.
        </>
      )}
    </p>
  </div>
)
