import { Dialog } from "../ui/Dialog.tsx"
import { SHORTCUTS } from "./Shortcuts.ts"

export const Help = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog onClose={onClose} title="Keyboard">
    <dl className="shortcuts">
      {SHORTCUTS.map(([keys, does]) => (
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
