"""Sets as text: "1-3, 7" holds the integers 1, 2, 3 and 7 (ends included, as people write them)."""

from .basic import normalize


def parse_set(text, separator=","):
    """Reads a text; a part is a number or two numbers with a dash between them."""
    intervals = []
    for part in text.split(separator):
        part = part.strip()
        if part == "":
            continue
        first, dash, last = part.partition("-")
        start = int(first)
        end = int(last) if dash else start
        if end < start:
            raise ValueError("a range ends before it starts: " + part)
        intervals.append((end + 1, start))
    return normalize(intervals)


def format_set(intervals, separator=", "):
    """Writes a set as `parse_set` reads it, a single number without a dash."""
    parts = []
    for start, end in normalize(intervals):
        last = end - 1
        if last == start:
            parts.append(str(start))
        else:
            parts.append(str(start) + "-" + str(last))
    return separator.join(parts)
