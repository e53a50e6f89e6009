/**
 * Rational numbers for tests, written apart from what they test: a fraction in lowest terms, and nothing else.
 */
export class Rational {
  readonly n: bigint
  readonly d: bigint

  constructor(n: bigint, d = 1n) {
    if (d === 0n) throw new Error("a fraction of nothing")
    let [a, b] = [n < 0n ? -n : n, d < 0n ? -d : d]
    while (b !== 0n) [a, b] = [b, a % b]
    const sign = d < 0n ? -1n : 1n
    this.n = a === 0n ? 0n : (sign * n) / a
    this.d = a === 0n ? 1n : (sign * d) / a
  }

  /** A decimal (`"1.5"`) or a fraction (`"8/3"`). */
  static of(text: string | bigint | number): Rational {
    const [over, under] = String(text).split("/")
    if (under !== undefined) return Rational.of(over!).over(Rational.of(under))
    const [whole, digits = ""] = String(text).split(".")
    return new Rational(BigInt(`${whole}${digits}`), 10n ** BigInt(digits.length))
  }

  plus(other: Rational): Rational {
    return new Rational(this.n * other.d + other.n * this.d, this.d * other.d)
  }

  minus(other: Rational): Rational {
    return this.plus(new Rational(-other.n, other.d))
  }

  times(other: Rational): Rational {
    return new Rational(this.n * other.n, this.d * other.d)
  }

  over(other: Rational): Rational {
    return new Rational(this.n * other.d, this.d * other.n)
  }

  isLessThan(other: Rational): boolean {
    return this.n * other.d < other.n * this.d
  }

  equals(other: Rational): boolean {
    return this.n === other.n && this.d === other.d
  }

  /** The greatest integer that is not greater: by search, not by division of signed numbers. */
  floor(): bigint {
    let whole = this.n / this.d
    while (new Rational(whole).times(new Rational(this.d)).n > this.n) whole--
    while ((whole + 1n) * this.d <= this.n) whole++
    return whole
  }

  ceiling(): bigint {
    const whole = this.floor()
    return whole * this.d === this.n ? whole : whole + 1n
  }

  /** The nearest integer; of two that are equally near, the one further from zero. */
  nearest(): bigint {
    const low = this.floor()
    const below = this.minus(new Rational(low))
    const half = new Rational(1n, 2n)
    if (below.equals(half)) return this.n < 0n ? low : low + 1n
    return below.isLessThan(half) ? low : low + 1n
  }

  max(other: Rational): Rational {
    return this.isLessThan(other) ? other : this
  }

  min(other: Rational): Rational {
    return this.isLessThan(other) ? this : other
  }
}
