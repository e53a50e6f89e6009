import { Dialog } from "../ui/Dialog.tsx"
import { ENTRIES } from "./Navigation.tsx"
import { SHORTCUTS } from "./Shortcuts.ts"

/** `g then o, c`, and the pages that these open. */
const going = [
  `g then ${ENTRIES.map(({ key }) => key).join(", ")}`,
  `Go to ${ENTRIES.map(({ label }) => label).join(", ")}`,
] as const

export const Help = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog onClose={onClose} title="Keyboard">
    <dl className="shortcuts">
      {[...SHORTCUTS, going].map(([keys, does]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
