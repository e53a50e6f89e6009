/**
 * The filters of a list. They are part of the page's address, so that a link shows the same list.
 */
import { type ReactNode, useEffect, useId, useRef, useState } from "react"
import { useSearchParams } from "wouter"
import { Icon } from "./Icon.tsx"

export interface Filters {
  readonly get: (name: string) => string | undefined
  readonly set: (name: string, value: string) => void
  readonly clear: () => void
  readonly isAny: boolean
}

export const useFilters = (): Filters => {
  const [parameters, setParameters] = useSearchParams()
  const set = (name: string, value: string) =>
    setParameters(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === "") next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true },
    )
  return {
    get: (name) => {
      const value = parameters.get(name)
      return value === null || value === "" ? undefined : value
    },
    set,
    clear: () => setParameters(new URLSearchParams(), { replace: true }),
    isAny: [...parameters.values()].some((value) => value !== ""),
  }
}

export const FilterBar = ({
  children,
  filters,
}: {
  readonly filters: Filters
  readonly children: ReactNode
}) => (
  <div aria-label="Filters" className="filters" role="group">
    {children}
    {filters.isAny && (
      <button className="button quiet" onClick={filters.clear} type="button">
        Clear filters
      </button>
    )}
  </div>
)

interface FilterProps {
  readonly filters: Filters
  readonly name: string
  readonly label: string
}

export const SelectFilter = ({
  filters,
  label,
  name,
  options,
}: FilterProps & { readonly options: ReadonlyArray<readonly [value: string, label: string]> }) => (
  <label className="filter">
    <span>{label}</span>
    <select onChange={(event) => filters.set(name, event.target.value)} value={filters.get(name) ?? ""}>
      <option value="">Any</option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
)

interface Picking {
  readonly onClose: () => void
  readonly onPick: (value: string) => void
}

/** A filter that is chosen in a dialog, and shown with a name instead of its id. */
export const PickFilter = ({
  filters,
  label,
  name,
  picker,
  shown = "Any",
}: FilterProps & {
  /** The name of the chosen item. */
  readonly shown: string | undefined
  readonly picker: (picking: Picking) => ReactNode
}) => {
  const id = useId()
  const [isPicking, setIsPicking] = useState(false)
  const set = (value: string) => {
    setIsPicking(false)
    filters.set(name, value)
  }
  return (
    <div className="filter">
      <span id={`${id}-label`}>{label}</span>
      <span className="pick">
        <button
          aria-haspopup="dialog"
          aria-labelledby={`${id}-label ${id}-shown`}
          className="pick-button"
          onClick={() => setIsPicking(true)}
          type="button"
        >
          <span className="clip" id={`${id}-shown`} title={shown}>
            {shown}
          </span>
          <Icon name="search" />
        </button>
        {filters.get(name) !== undefined && (
          <button aria-label={`Any ${label}`} className="icon-button" onClick={() => set("")} type="button">
            <Icon name="cross" />
          </button>
        )}
      </span>
      {isPicking && picker({ onClose: () => setIsPicking(false), onPick: set })}
    </div>
  )
}

/** A date with a year of four digits. While somebody types 2026, the year is 2 first. */
const IS_DATE = /^([1-9]\d{3}-|$)/

/** A filter by a text or a date. A text is applied when it is entered, not with each letter. */
export const InputFilter = ({
  filters,
  label,
  name,
  placeholder,
  type = "text",
}: FilterProps & { readonly type?: "text" | "date"; readonly placeholder?: string }) => {
  const input = useRef<HTMLInputElement>(null)
  const value = filters.get(name) ?? ""
  // Shows the value of the address, but not while somebody types.
  useEffect(() => {
    if (input.current !== null && input.current !== document.activeElement) input.current.value = value
  }, [value])
  const apply = (entered: string) => {
    if (entered.trim() !== value) filters.set(name, entered.trim())
  }
  return (
    <label className="filter">
      <span>{label}</span>
      <input
        autoComplete="off"
        defaultValue={value}
        onBlur={(event) => apply(event.target.value)}
        onChange={(event) => type === "date" && IS_DATE.test(event.target.value) && apply(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && apply(event.currentTarget.value)}
        placeholder={placeholder}
        ref={input}
        spellCheck={false}
        type={type}
      />
    </label>
  )
}
