import { useState } from "react"
import type { CreditGrant } from "../api/Types.ts"
import { ActionButton } from "../ui/ActionButton.tsx"
import { CutNote } from "../ui/CutNote.tsx"
import { Day } from "../ui/Period.tsx"
import { StateBadge, type Tone } from "../ui/StateBadge.tsx"
import { VoidGrant } from "./CreditDialogs.tsx"
import * as Units from "./Units.ts"

const GRANTS: Readonly<Record<CreditGrant["status"], readonly [tone: Tone, word: string]>> = {
  pending: ["wait", "Not begun"],
  active: ["good", "Active"],
  expired: ["quiet", "Expired"],
  voided: ["quiet", "Taken back"],
}

const KINDS = { paid: "Paid", promotional: "Present", plan: "Of the plan" } as const

const GrantLine = ({
  decimals,
  grant,
  onVoid,
}: {
  readonly decimals: number
  readonly grant: CreditGrant
  readonly onVoid: () => void
}) => {
  const [tone, word] = GRANTS[grant.status]
  return (
    <li className="line">
      <span className="line-state wide">
        <StateBadge tone={tone} word={word} />
      </span>
      <span className="grow two-lines">
        <span className="strong">
          {KINDS[grant.kind]}: {Units.format(grant.amount, grant.unit, decimals)}
        </span>
        <span className="muted">
          from <Day at={grant.effective_at} />
          {grant.expires_at === null ? (
            ", without end"
          ) : (
            <>
              {" until "}
              <Day at={grant.expires_at} />
            </>
          )}
          {grant.scope !== null && `, for ${grant.scope.join(", ")} alone`}
        </span>
      </span>
      <span className="amount">{Units.format(grant.available, grant.unit, decimals)} left</span>
      {BigInt(grant.available) > 0n && (
        <ActionButton className="button small" does="post /v1/credit_grants/{id}/void" onClick={onVoid}>
          Take back…
        </ActionButton>
      )}
    </li>
  )
}

/** Grants, each of which can be taken back. */
export const Grants = ({
  decimals,
  grants,
  isCut,
}: {
  readonly decimals: number
  readonly grants: ReadonlyArray<CreditGrant>
  /** Whether there are older ones. */
  readonly isCut: boolean
}) => {
  const [voided, setVoided] = useState<CreditGrant>()
  return (
    <section aria-labelledby="grants-title" className="section">
      <h2 id="grants-title">Grants</h2>
      <ul className="lines">
        {grants.map((grant) => (
          <GrantLine decimals={decimals} grant={grant} key={grant.id} onVoid={() => setVoided(grant)} />
        ))}
      </ul>
      <CutNote count={grants.length} isCut={isCut} />
      {voided !== undefined && (
        <VoidGrant decimals={decimals} grant={voided} onClose={() => setVoided(undefined)} />
      )}
    </section>
  )
}
