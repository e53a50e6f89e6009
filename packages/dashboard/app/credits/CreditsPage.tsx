/**
 * The credits of a customer: the balance over time, grants, holds and entries.
 */
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { CreditGrant } from "../api/Types.ts"
import { useCustomerNow } from "../clocks/useCustomerNow.ts"
import * as Money from "../Money.ts"
import { ActionButton } from "../ui/ActionButton.tsx"
import { BarChart } from "../ui/BarChart.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Figure } from "../ui/Facts.tsx"
import { SelectFilter, useFilters } from "../ui/Filters.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Page } from "../ui/Page.tsx"
import { balancesOf } from "./Balances.ts"
import { GrantCredits } from "./CreditDialogs.tsx"
import { Entries } from "./Entries.tsx"
import { Grants } from "./Grants.tsx"
import { Holds } from "./Holds.tsx"
import * as Units from "./Units.ts"
import { unitsNote, unitsOf, useBalance, useGrants, useRecentEntries } from "./useCredits.ts"

interface Account {
  readonly customerId: string
  readonly unit: string
}

type CreditBalance = NonNullable<ReturnType<typeof useBalance>["data"]>

const tick = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })

/** A bar is as high as the amount that people read: in the unit, and not in its smallest part. */
const heightOf = (available: bigint, decimals: number): number =>
  Number(Money.decimalWith(available, decimals))

const BalanceChart = ({ balance, customerId, unit }: Account & { readonly balance: CreditBalance }) => {
  const { decimals } = balance
  const entries = useRecentEntries(customerId, unit).data
  const now = useCustomerNow(Queries.useCustomer(customerId).data)
  if (entries === undefined) return null
  const days = balancesOf(BigInt(balance.available), entries.items, now)
  return (
    <>
      <BarChart
        describe={(index) => {
          const day = days[index]
          return day === undefined
            ? ""
            : `${tick.format(day.start)}: ${Units.format(day.available, unit, decimals)}`
        }}
        label={`What was available at the end of each day. Now: ${Units.format(balance.available, unit, decimals)}`}
        series={[
          {
            label: "Available",
            className: "chart-usage",
            values: days.map(({ available }) => heightOf(available, decimals)),
          },
        ]}
        starts={days.map(({ start }) => start)}
        tick={(at) => tick.format(at)}
      />
      {entries.isCut && (
        <p className="muted">
          The chart begins with the newest {entries.items.length.toLocaleString("en-GB")} entries.
        </p>
      )}
    </>
  )
}

const Balance = ({ balance, unit }: { readonly balance: CreditBalance; readonly unit: string }) => {
  const format = (amount: CreditBalance["available"]) => Units.format(amount, unit, balance.decimals)
  return (
    <dl className="figures">
      <Figure name="Available" value={format(balance.available)} />
      {BigInt(balance.scoped) > 0n && <Figure name="For some things alone" value={format(balance.scoped)} />}
      <Figure name="Held" value={format(balance.held)} />
      <Figure name="Owed" value={format(balance.debt)} />
    </dl>
  )
}

/** What a customer has of a unit. The balance says how many decimals the unit has. */
const AccountParts = ({
  customerId,
  grants,
  isCut,
  unit,
}: Account & { readonly grants: ReadonlyArray<CreditGrant>; readonly isCut: boolean }) => (
  <Loaded lines={2} query={useBalance(customerId, unit)}>
    {(balance) => (
      <>
        <Balance balance={balance} unit={unit} />
        <BalanceChart balance={balance} customerId={customerId} unit={unit} />
        <Grants decimals={balance.decimals} grants={grants} isCut={isCut} />
        <Holds customerId={customerId} decimals={balance.decimals} unit={unit} />
        <Entries customerId={customerId} decimals={balance.decimals} key={unit} unit={unit} />
      </>
    )}
  </Loaded>
)

export const CreditsPage = ({ id }: { readonly id: string }) => {
  const filters = useFilters()
  const customer = Queries.useCustomer(id).data
  const query = useGrants(id)
  const units = unitsOf(query.data?.items ?? [])
  const unit = filters.get("unit") ?? units[0]
  const [isGranting, setIsGranting] = useState(false)
  return (
    <Page
      actions={
        <ActionButton
          className="button primary"
          does="post /v1/credit_grants"
          onClick={() => setIsGranting(true)}
        >
          <Icon name="plus" /> Grant credits
        </ActionButton>
      }
      title={unit === undefined ? "Credits" : `Credits: ${unit}`}
      up={{ href: `/customers/${id}`, label: customer?.name ?? "Customer", id: "credits" }}
    >
      <Loaded lines={8} query={query}>
        {({ isCut, items: grants }) =>
          unit === undefined ? (
            <EmptyState title="No credits were granted">
              <p>Grant some with the button above. Plans and credit notes grant them, too.</p>
            </EmptyState>
          ) : (
            <>
              {units.length > 1 && (
                <SelectFilter
                  filters={filters}
                  label="Unit"
                  name="unit"
                  options={units.map((each) => [each, each] as const)}
                />
              )}
              {isCut && <p className="muted">{unitsNote(grants)}</p>}
              <AccountParts
                customerId={id}
                grants={grants.filter((grant) => grant.unit === unit)}
                isCut={isCut}
                unit={unit}
              />
            </>
          )
        }
      </Loaded>
      {isGranting && (
        <GrantCredits
          customerId={id}
          onClose={() => setIsGranting(false)}
          onDone={(grant) => filters.set("unit", grant.unit)}
          unit={unit}
        />
      )}
    </Page>
  )
}
