/** Says that a list ends before its end, so that nobody takes it for all there is. */
export const CutNote = ({
  children,
  count,
  isCut,
}: {
  readonly isCut: boolean
  /** How many are shown. */
  readonly count: number
  /** What follows the number, such as ` of each`. */
  readonly children?: string
}) =>
  isCut && (
    <p className="muted">
      These are the newest {count.toLocaleString("en-GB")}
      {children}.
    </p>
  )
