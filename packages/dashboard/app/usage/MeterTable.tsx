import * as Quantity from "../Quantity.ts"
import type { MeterTotal } from "./UsageTotals.ts"

/** Totals by product and unit. The chart shows one of them. */
export const MeterTable = ({
  onChoose,
  shown,
  totals,
}: {
  readonly totals: ReadonlyArray<MeterTotal>
  readonly shown: string
  readonly onChoose: (key: string) => void
}) => (
  <div className="scroll-x">
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">Product</th>
          <th className="unit" scope="col">
            Unit
          </th>
          <th className="number" scope="col">
            Total
          </th>
          <th className="number records-count" scope="col">
            Records
          </th>
        </tr>
      </thead>
      <tbody>
        {totals.map(({ key, productId, recordCount, total, unit }) => (
          <tr className={key === shown ? "chosen" : ""} key={key}>
            <th scope="row">
              <button
                aria-pressed={key === shown}
                className="link"
                onClick={() => onChoose(key)}
                type="button"
              >
                {productId}
              </button>
              <span className="unit-below muted">{unit}</span>
            </th>
            <td className="unit">{unit}</td>
            <td className="number strong">{Quantity.format(total)}</td>
            <td className="number records-count">{Quantity.format(recordCount)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
