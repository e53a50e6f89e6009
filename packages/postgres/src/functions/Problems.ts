/**
 * The checks of arguments that `record_usage` and `publish_event` share: branches of the `case` that finds a problem,
 * and the exception that reports it. The limits are those of core.
 */

/** Account and mode: `Tenant.AccountId`, `Tenant.Mode`. */
export const tenantProblems = `when account_id is null or account_id !~ '^[A-Za-z0-9_-]{1,64}$'
      then array['account_id', 'must be 1 to 64 letters, digits, - or _']
    when mode is null or mode not in ('live', 'test') then array['mode', 'must be live or test']`

/** Text of 1 to `maximum` code points. `guard` says whether null is allowed. */
export const boundedText = (
  argument: string,
  maximum: number,
  guard: `${string} is null or` | `${string} is not null and`,
): string => `when ${guard} char_length(${argument}) not between 1 and ${maximum}
      then array['${argument}', 'must be 1 to ${maximum} characters']`

/** Raises BW400 if there is a problem. */
export const refuse = `if v_problem is not null then
    raise exception '% %', v_problem[1], v_problem[2] using errcode = 'BW400', detail = v_problem[1];
  end if;`
