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

/** The path of an entry, as `InvalidInput.fieldPath` writes it. */
export const pathOf = (argument: string, key: string): string =>
  `case when ${key} ~ '^[A-Za-z_][A-Za-z0-9_]*$' then '${argument}.' || ${key}
          else '${argument}[' || to_json(${key})::text || ']' end`

/**
 * A flat object of text that may be null: `TextMap` of core. A problem of an entry names its key as
 * `InvalidInput.fieldPath` does. The rules of Unicode are those of the type: `jsonb` has no NUL and no lone surrogate.
 */
export const textMap = (
  argument: string,
  most: { readonly keys: number; readonly keyLength: number; readonly valueLength: number },
): string => {
  const path = (key: string) => pathOf(argument, key)
  return `when jsonb_typeof(${argument}) <> 'object' then array['${argument}', 'must be object']
    when ${argument} is not null and (select count(*) from jsonb_object_keys(${argument})) > ${most.keys}
      then array['${argument}', 'must have at most ${most.keys} keys']
    when exists (select from jsonb_each(${argument}) as e (name, value) where ${isBadEntry(most)})
      then (select case
        when ${isBadKey("e.name", most.keyLength)} then array[${path("e.name")},
          'is not a possible key: 1 to ${most.keyLength} characters, no NUL or lone surrogate, not __proto__']
        when jsonb_typeof(e.value) <> 'string' then array[${path("e.name")}, 'must be a string']
        else array[${path("e.name")}, 'must be 1 to ${most.valueLength} characters'] end
        from jsonb_each(${argument}) as e (name, value) where ${isBadEntry(most)} limit 1)`
}

const isBadKey = (key: string, length: number): string =>
  `(char_length(${key}) not between 1 and ${length} or ${key} = '__proto__')`

const isBadEntry = ({
  keyLength,
  valueLength,
}: {
  readonly keyLength: number
  readonly valueLength: number
}): string =>
  `(${isBadKey("e.name", keyLength)} or jsonb_typeof(e.value) <> 'string'
      or char_length(e.value #>> '{}') not between 1 and ${valueLength})`

/** Raises BW400 if there is a problem. */
export const refuse = `if v_problem is not null then
    raise exception '% %', v_problem[1], v_problem[2] using errcode = 'BW400', detail = v_problem[1];
  end if;`
