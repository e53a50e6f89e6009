import * as Instant from "../Instant.ts"

/** A day, in the reader's time zone. */
export const Day = ({ at }: { readonly at: string }) => (
  <time className="no-break" dateTime={at} title={Instant.exact(at)}>
    {Instant.day(at)}
  </time>
)

/** A span of time. Its end is the first instant after it. */
export const Period = ({ end, start }: { readonly start: string | null; readonly end: string | null }) => (
  <span className="period">
    {start === null ? "…" : <Day at={start} />} – {end === null ? "…" : <Day at={end} />}
  </span>
)
