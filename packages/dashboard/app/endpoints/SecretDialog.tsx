import type { Endpoint } from "../api/Types.ts"
import { Command } from "../ui/Command.tsx"
import { Dialog } from "../ui/Dialog.tsx"

/** Shows the secret of an endpoint, which is not shown again, or its public key. */
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
          : "Receivers verify signatures with this secret. It is not shown again: copy it now."
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
