import { Link } from "wouter"
import { Loaded } from "../ui/Loading.tsx"
import * as Units from "./Units.ts"
import { unitsNote, unitsOf, useBalance, useGrants } from "./useCredits.ts"

const UnitLine = ({ customerId, unit }: { readonly customerId: string; readonly unit: string }) => {
  const balance = useBalance(customerId, unit).data
  return (
    <li className="line linked">
      <Link
        className="row-link grow"
        href={`/customers/${customerId}/credits?unit=${encodeURIComponent(unit)}`}
      >
        {unit}
      </Link>
      {balance !== undefined && BigInt(balance.held) > 0n && (
        <span className="muted">{Units.format(balance.held, unit, balance.decimals)} held</span>
      )}
      {balance !== undefined && BigInt(balance.debt) > 0n && (
        <span className="warning-text">{Units.format(balance.debt, unit, balance.decimals)} owed</span>
      )}
      <span className="amount">
        {balance === undefined ? "…" : Units.format(balance.available, unit, balance.decimals)}
      </span>
    </li>
  )
}

/** What a customer has of each unit. */
export const CreditSummary = ({ customerId }: { readonly customerId: string }) => (
  <section aria-labelledby="credits-title" className="section">
    <header className="section-header">
      <h2 id="credits-title">Credits</h2>
      <Link href={`/customers/${customerId}/credits`}>Grants and entries</Link>
    </header>
    <Loaded lines={1} query={useGrants(customerId)}>
      {({ isCut, items: grants }) =>
        grants.length === 0 ? (
          <p className="muted">None were granted.</p>
        ) : (
          <>
            <ul className="lines">
              {unitsOf(grants).map((unit) => (
                <UnitLine customerId={customerId} key={unit} unit={unit} />
              ))}
            </ul>
            {isCut && <p className="muted">{unitsNote(grants)}</p>}
          </>
        )
      }
    </Loaded>
  </section>
)
