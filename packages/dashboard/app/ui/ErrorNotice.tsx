import { ApiError } from "../api/ApiError.ts"
import { CopyButton } from "./CopyButton.tsx"
import { Icon } from "./Icon.tsx"

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : "Something went wrong."

/** An error message, with the id of the request in the server's log. */
export const ErrorNotice = ({
  error,
  message = messageOf(error),
  onRetry,
}: {
  readonly error: unknown
  /** Replaces the message of the error. */
  readonly message?: string
  readonly onRetry?: () => void
}) => {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div className="error-notice" role="alert">
      <Icon name="warning" />
      <div>
        <p>{message}</p>
        {requestId !== undefined && (
          <p className="request-id">
            Request-Id <code>{requestId}</code>
            <CopyButton isQuiet label="Copy the Request-Id" text={requestId} />
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <button className="button" onClick={onRetry} type="button">
          Try again
        </button>
      )}
    </div>
  )
}
