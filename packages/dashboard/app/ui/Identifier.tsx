import { CopyButton } from "./CopyButton.tsx"

/** An id with a button that copies it. */
export const Identifier = ({ id }: { readonly id: string }) => (
  <span className="identifier">
    <code>{id}</code>
    <CopyButton isQuiet label={`Copy ${id}`} text={id} />
  </span>
)

/** The end of an id, which differs between ids that were made at the same time. */
export const shortId = (id: string): string => {
  const at = id.indexOf("_")
  return at === -1 ? id : `${id.slice(0, at + 1)}…${id.slice(-8)}`
}
