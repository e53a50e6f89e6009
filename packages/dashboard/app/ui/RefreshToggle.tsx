/** Turns automatic updates of a list on and off. It is not called "live", because that is a mode. */
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
