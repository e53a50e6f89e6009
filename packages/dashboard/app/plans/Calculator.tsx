/**
 * What a version of a plan costs for quantities that somebody enters, with the computation.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useDeferredValue, useState } from "react"
import type { components } from "../api/Schema.ts"
import type { PlanVersion } from "../api/Types.ts"
import { Steps } from "../invoices/Steps.tsx"
import { useSession } from "../session/Session.tsx"
import { Field } from "../ui/Field.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Amount } from "../ui/Money.tsx"
import { intervalText } from "./PlanTexts.ts"

type Charge = PlanVersion["terms"]["charges"][number]
type Preview = components["schemas"]["PlanPreview"]

/** What a charge counts: a quantity of the subscription, or usage. `undefined` for a flat fee. */
const countedBy = (charge: Charge): string | undefined => {
  if (charge.model === "flat") return undefined
  return charge.quantity ?? charge.meter
}

const Result = ({ preview }: { readonly preview: Preview }) => (
  <>
    <ul aria-label="Lines" className="rows">
      {preview.lines.map((line) => (
        <li key={line.charge ?? "minimum"}>
          <details className="invoice-line">
            <summary>
              <span className="grow strong">{line.name}</span>
              <Amount amount={line.amount} currency={preview.currency} />
            </summary>
            <div className="unfolded">
              <Steps currency={preview.currency} steps={line.steps} />
            </div>
          </details>
        </li>
      ))}
    </ul>
    <dl aria-label="Sums" className="sums">
      <div className="sum">
        <dt>Total</dt>
        <dd>
          <Amount amount={preview.total} currency={preview.currency} />
        </dd>
      </div>
    </dl>
  </>
)

const usePreview = (version: PlanVersion, currency: string, values: Readonly<Record<string, string>>) => {
  const { client } = useSession()
  const quantities = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""))
  const asked = useDeferredValue(JSON.stringify(quantities))
  return useQuery({
    queryKey: ["plans", "preview", version.plan_key, version.version, currency, asked],
    queryFn: ({ signal }) =>
      client.call("post", "/v1/catalog/preview", {
        body: {
          plan: version.plan_key,
          version: version.version,
          currency,
          quantities: JSON.parse(asked) as unknown,
        },
        signal,
      }),
    placeholderData: keepPreviousData,
    retry: false,
  })
}

export const Calculator = ({ version }: { readonly version: PlanVersion }) => {
  const { charges, currencies, interval } = version.terms
  const [chosen, setChosen] = useState<string>()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const currency = chosen !== undefined && currencies.includes(chosen) ? chosen : (currencies[0] ?? "")
  const query = usePreview(version, currency, values)
  return (
    <section aria-labelledby="calculator-title" className="section">
      <header className="section-header">
        <h2 id="calculator-title">What version {version.version} costs</h2>
        <span className="muted">{intervalText(interval)}</span>
      </header>
      <div className="field-row">
        {currencies.length > 1 && (
          <Field label="Currency">
            {(attributes) => (
              <select {...attributes} onChange={({ target }) => setChosen(target.value)} value={currency}>
                {currencies.map((code) => (
                  <option key={code} value={code}>
                    {code}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {charges.map((charge) => {
          const counted = countedBy(charge)
          if (counted === undefined) return null
          return (
            <Field hint={`Counts ${counted}.`} key={charge.key} label={charge.name ?? charge.key}>
              {(attributes) => (
                <input
                  {...attributes}
                  autoComplete="off"
                  inputMode="decimal"
                  onChange={({ target }) => setValues({ ...values, [charge.key]: target.value.trim() })}
                  placeholder="0"
                  value={values[charge.key] ?? ""}
                />
              )}
            </Field>
          )
        })}
      </div>
      <Loaded lines={3} query={query}>
        {(preview) => <Result preview={preview} />}
      </Loaded>
    </section>
  )
}
