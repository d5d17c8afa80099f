"""The normal form, and what can be read off it."""


def normalize(intervals, gap=1):
    """Sorted and merged: no two touch, overlap or lie at most `gap` apart; empty ones are dropped."""
    merged = []
    for start, end in sorted(intervals):
        if start >= end:
            break
        if merged and start - merged[-1][1] <= gap:
            last_start, last_end = merged.pop()
            merged.append((last_start, max(last_end, end)))
        else:
            merged.append((start, end))
    return merged


def contains(intervals, point):
    """Whether a point lies in a normalized set; binary search."""
    low = 0
    high = len(intervals)
    while low < high:
        middle = (low + high) // 2
        start, end = intervals[middle]
        if point < start:
            high = middle
        elif point > end:
            low = middle + 1
        else:
            return True
    return False


def total(intervals):
    """How many integers lie in the set, each counted once."""
    count = 0
    for start, end in normalize(intervals):
        count += end - start
        count += 1
    return count
