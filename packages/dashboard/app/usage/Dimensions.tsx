import type { UsageRecord } from "../api/Types.ts"

/** The dimensions of a record, with their names. */
export const Dimensions = ({ dimensions }: Pick<UsageRecord, "dimensions">) => (
  <span className="dimensions">
    {Object.entries(dimensions).map(([name, value]) => (
      <span key={name}>
        <span className="muted">{name}</span> {value}
      </span>
    ))}
  </span>
)
