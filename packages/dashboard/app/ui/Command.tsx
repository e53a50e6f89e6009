import { CopyButton } from "./CopyButton.tsx"

/** A command to run elsewhere. */
export const Command = ({ text }: { readonly text: string }) => (
  <div className="command">
    {/* Long commands can be scrolled, also by keyboard. */}
    <pre role="region" aria-label="Command" tabIndex={0}>
      {text}
    </pre>
    <CopyButton isQuiet label="Copy the command" text={text} />
  </div>
)
