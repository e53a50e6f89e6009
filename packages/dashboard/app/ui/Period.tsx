import * as Instant from "../Instant.ts"

/** A day, in the reader's time zone. */
export const Day = ({ at }: { readonly at: string }) => (
  <time className="no-break" dateTime={at} title={Instant.exact(at)}>
    {Instant.day(at)}
  </time>
)

/** A day in a time zone, as the documents have it. `undefined`: the zone is still being loaded. */
export const ZonedDay = ({
  at,
  shown = at,
  zone,
}: {
  readonly at: string
  readonly zone: string | undefined
  /** The instant whose day is shown, if it is another one. */
  readonly shown?: string
}) => (
  <time className="no-break" dateTime={at} title={Instant.exact(at)}>
    {zone === undefined ? "…" : Instant.day(shown, zone)}
  </time>
)

/** The days of a span of time. Its end is the first instant after it, so the last day is the one of the instant before. */
export const Period = ({
  end,
  start,
  zone,
}: {
  readonly start: string | null
  readonly end: string | null
  readonly zone: string | undefined
}) => (
  <span className="period">
    {start === null ? "…" : <ZonedDay at={start} zone={zone} />} –{" "}
    {end === null ? "…" : <ZonedDay at={end} shown={Instant.lastOf(start, end)} zone={zone} />}
  </span>
)
