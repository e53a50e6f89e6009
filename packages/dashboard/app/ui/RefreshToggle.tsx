/** Not called live: that is a mode. Whether a list shows what comes in while it is read. */
export const RefreshToggle = ({
  isLive,
  onChange,
}: {
  readonly isLive: boolean
  readonly onChange: (isLive: boolean) => void
}) => (
  <button
    aria-pressed={isLive}
    className="button refresh-toggle"
    onClick={() => onChange(!isLive)}
    type="button"
  >
    <span aria-hidden="true" className="pulse" />
    {isLive ? "Auto-refresh on" : "Auto-refresh off"}
  </button>
)
