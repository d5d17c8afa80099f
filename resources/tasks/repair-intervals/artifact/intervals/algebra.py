"""Union, intersection, complement and difference; arguments need not be normalized, results are."""

from .basic import normalize


def union(*sets):
    """What lies in any of the sets."""
    everything = []
    for intervals in sets:
        everything.extend(intervals)
    return normalize(everything)


def intersection(first, second):
    """What lies in both sets."""
    a = normalize(first)
    b = normalize(second)
    result = []
    i = 0
    j = 0
    while i < len(a) and j < len(b):
        start = max(a[i][0], b[j][0])
        end = min(a[i][1], b[j][1])
        if start < end:
            result.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return result


def complement(intervals, low, high):
    """What lies from `low` to `high` (excluded) and not in the set."""
    result = []
    position = low
    for start, end in normalize(intervals):
        if start >= high:
            break
        if start >= position:
            result.append((position, start))
        position = max(position, end)
    if position < high:
        result.append((position, high))
    return result


def difference(first, second):
    """What lies in the first set and not in the second."""
    a = normalize(first)
    if not a:
        return []
    return intersection(a, complement(second, a[0][0], a[-1][0]))
