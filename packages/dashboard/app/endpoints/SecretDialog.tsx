import type { Endpoint } from "../api/Types.ts"
import { Command } from "../ui/Command.tsx"
import { Dialog } from "../ui/Dialog.tsx"

/** The secret of an endpoint, this once; or the public key, which can be had at any time. */
export const SecretDialog = ({
  endpoint,
  onClose,
}: {
  readonly endpoint: Endpoint & { readonly secret?: string }
  readonly onClose: () => void
}) => {
  const { public_key: publicKey, secret } = endpoint
  return (
    <Dialog
      description={
        secret === undefined
          ? "Receivers verify signatures with this public key."
          : "Receivers verify signatures with this secret. It is shown this once: copy it now."
      }
      isAlert
      onClose={onClose}
      title={secret === undefined ? "Public key" : "Signing secret"}
    >
      <Command text={secret ?? publicKey ?? ""} />
      <footer>
        <button className="button primary" onClick={onClose} type="button">
          {secret === undefined ? "Close" : "I have copied it"}
        </button>
      </footer>
    </Dialog>
  )
}
