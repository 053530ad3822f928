"""Logarithm and exponential from additions, multiplications and divisions alone.

numpy's `log` and `exp` differ in the last bit from one processor to the next and from the standard
library's; a steep map turns that bit into hundreds. Only operations that IEEE 754 fixes to the bit are
used here, so a calibration map gives the same numbers on every machine, and `SCALAR_SOURCE`, the same
operations for one number on the standard library, gives them where there is no numpy.

The reductions and polynomials are those of fdlibm (Sun Microsystems, 1993; `e_log.c`, `e_exp.c`); both
stay within 1 ulp of the true value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calcore.validation import Floats

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
INVERSE_LN2 = 1.44269504088896338700
SQRT_HALF = 0.7071067811865476
LOG_TERMS = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
EXP_TERMS = (
    1.66666666666666019037e-01,
    -2.77777777770155933842e-03,
    6.61375632143793436117e-05,
    -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)
FARTHEST = 746.0
"""exp(-746) is zero in double precision; a larger argument changes nothing."""

_BLOCK = 16_384  # numbers at a time: the temporaries then stay in the processor's cache


def log(x: Floats) -> Floats:
    """Natural logarithm of a float64 array of positive finite numbers."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < SQRT_HALF
    f = np.where(small, mantissa + mantissa, mantissa) - 1.0
    k = exponent - small.astype(np.float64)
    s = f / (2.0 + f)
    z = s * s
    half_square = 0.5 * f * f
    remainder = z * _polynomial(z, LOG_TERMS)
    result: Floats = k * LN2_HIGH - ((half_square - (s * (half_square + remainder) + k * LN2_LOW)) - f)
    return result


def exp(x: Floats) -> Floats:
    """Exponential of a float64 array of numbers in [-746, 0]."""
    k = np.rint(x * INVERSE_LN2)
    high = x - k * LN2_HIGH
    low = k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * _polynomial(t, EXP_TERMS)
    result: Floats = np.ldexp(1.0 - ((low - (r * c) / (2.0 - c)) - high), k.astype(np.int32))
    return result


def sigmoid(z: Floats) -> Floats:
    """1 / (1 + exp(-z)) of a float64 array of finite numbers; never overflows."""
    e = exp(-np.minimum(np.abs(z), FARTHEST))
    return np.where(z >= 0.0, 1.0, e) / (1.0 + e)


def in_blocks(transform: Callable[[Floats], Floats], x: Floats) -> Floats:
    """`transform(x)` for an elementwise transform, computed in pieces that fit the processor's cache."""
    flat = x.reshape(-1)
    if flat.size <= _BLOCK:
        return transform(flat).reshape(x.shape)
    out = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        out[start : start + _BLOCK] = transform(flat[start : start + _BLOCK])
    return out.reshape(x.shape)


def _polynomial(z: Floats, terms: tuple[float, ...]) -> Floats:
    """terms[0] + z terms[1] + z^2 terms[2] + ..., by Horner's rule."""
    total: Floats = z * terms[-1]
    for term in terms[-2:0:-1]:
        total += term
        total *= z
    total += terms[0]
    return total


SCALAR_SOURCE = f"""\
def _polynomial(z, terms):
    total = z * terms[-1]
    for term in terms[-2:0:-1]:
        total = (total + term) * z
    return total + terms[0]


def _log(x):
    # additions, multiplications and divisions alone: the same bits on every machine
    mantissa, exponent = frexp(x)
    if mantissa < {SQRT_HALF!r}:
        mantissa, exponent = mantissa + mantissa, exponent - 1
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    half_square = 0.5 * f * f
    remainder = z * _polynomial(z, {LOG_TERMS!r})
    k = float(exponent)
    return k * {LN2_HIGH!r} - ((half_square - (s * (half_square + remainder) + k * {LN2_LOW!r})) - f)


def _exp(x):
    k = float(round(x * {INVERSE_LN2!r}))
    high = x - k * {LN2_HIGH!r}
    low = k * {LN2_LOW!r}
    r = high - low
    t = r * r
    c = r - t * _polynomial(t, {EXP_TERMS!r})
    return ldexp(1.0 - ((low - (r * c) / (2.0 - c)) - high), int(k))


def _sigmoid(z):
    e = _exp(-min(abs(z), {FARTHEST!r}))
    return (1.0 if z >= 0.0 else e) / (1.0 + e)
"""
"""`_log`, `_exp` and `_sigmoid` of one number, as source that needs `frexp` and `ldexp` from `math`."""
