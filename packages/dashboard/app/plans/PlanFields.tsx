import type { Plan } from "../api/Types.ts"
import { Field } from "../ui/Field.tsx"
import { type PlanChoice, useVersions } from "./usePlans.ts"

/** A plan, and a version of it. */
export const PlanFields = ({
  choice,
  keep,
  onChange,
  plans,
}: {
  readonly plans: ReadonlyArray<Plan>
  readonly choice: PlanChoice
  readonly onChange: (choice: PlanChoice) => void
  /** What choosing no plan means. Without it, a plan has to be chosen. */
  readonly keep?: string
}) => {
  const versions = useVersions(choice.key === "" ? undefined : choice.key).data ?? []
  return (
    <div className="field-row">
      <Field label="Plan" name="plan">
        {(attributes) => (
          <select
            {...attributes}
            onChange={(event) => onChange({ key: event.target.value, version: "" })}
            value={choice.key}
          >
            {keep !== undefined && <option value="">{keep}</option>}
            {plans.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {choice.key !== "" && (
        <Field label="Version" name="version">
          {(attributes) => (
            <select
              {...attributes}
              onChange={(event) => onChange({ ...choice, version: event.target.value })}
              value={choice.version}
            >
              <option value="">The newest</option>
              {versions.map(({ version }) => (
                <option key={version} value={version}>
                  {version}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </div>
  )
}

/** Quantities, such as seats. An empty one is left out. */
export const QuantityFields = ({
  names,
  onChange,
  values,
}: {
  readonly names: ReadonlyArray<string>
  readonly values: Readonly<Record<string, string>>
  readonly onChange: (values: Readonly<Record<string, string>>) => void
}) =>
  names.length === 0 ? null : (
    <div className="field-row">
      {names.map((name) => (
        <Field key={name} label={`Quantity of ${name}`}>
          {(attributes) => (
            <input
              {...attributes}
              autoComplete="off"
              inputMode="decimal"
              onChange={(event) => onChange({ ...values, [name]: event.target.value.trim() })}
              value={values[name] ?? ""}
            />
          )}
        </Field>
      ))}
    </div>
  )

/** The quantities that somebody entered. */
export const givenQuantities = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""))
