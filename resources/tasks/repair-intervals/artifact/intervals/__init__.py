"""Sets of half-open intervals of integers, as lists of (start, end) with start < end."""

from .algebra import complement, difference, intersection, union
from .basic import contains, normalize, total
from .text import format_set, parse_set

__all__ = [
    "complement",
    "contains",
    "difference",
    "format_set",
    "intersection",
    "normalize",
    "parse_set",
    "total",
    "union",
]
