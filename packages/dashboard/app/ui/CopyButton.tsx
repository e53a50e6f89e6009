import { Icon } from "./Icon.tsx"
import { toast } from "./Toast.tsx"

/** Pages over plain http have no clipboard, except from this machine. */
const copy = async (text: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    toast("Copied")
  } catch {
    toast("The browser did not allow copying")
  }
}

/** Copies a text. `label` names it. With `isQuiet` only the icon is visible. */
export const CopyButton = ({
  isQuiet = false,
  isSmall = false,
  label,
  text,
}: {
  readonly text: string
  readonly label: string
  readonly isQuiet?: boolean
  readonly isSmall?: boolean
}) => (
  <button
    aria-label={isQuiet ? label : undefined}
    className={isQuiet ? "icon-button" : `button ${isSmall ? "small" : ""}`}
    onClick={() => void copy(text)}
    title={isQuiet ? label : undefined}
    type="button"
  >
    <Icon name="copy" />
    {!isQuiet && label}
  </button>
)
