"""What the package must do: for each obligation a list of cases, (function, arguments, expected result or error)."""


class Error:
    """Stands for "must raise this"."""

    def __init__(self, name):
        self.name = name


# Every set over these few points, for the counted obligation: each is checked against sets of plain integers.
POINTS = 7


def members(bits):
    return [i for i in range(POINTS) if bits >> i & 1]


def as_intervals(points):
    result = []
    for point in sorted(points):
        if result and result[-1][1] == point:
            result[-1] = (result[-1][0], point + 1)
        else:
            result.append((point, point + 1))
    return result


OBLIGATIONS = {
    "sorted": [("normalize", [[(5, 6), (1, 2)]], [(1, 2), (5, 6)]), ("normalize", [[]], [])],
    "overlapping": [("normalize", [[(1, 4), (2, 6)]], [(1, 6)]), ("normalize", [[(1, 2), (1, 5), (4, 7)]], [(1, 7)])],
    "touching": [("normalize", [[(1, 3), (3, 5)]], [(1, 5)]), ("normalize", [[(1, 3), (4, 5)]], [(1, 3), (4, 5)])],
    "nested": [("normalize", [[(1, 9), (2, 3)]], [(1, 9)]), ("normalize", [[(0, 9), (1, 2), (8, 12)]], [(0, 12)])],
    "empty": [("normalize", [[(3, 3), (5, 4), (6, 8), (1, 2)]], [(1, 2), (6, 8)])],
    "empty_last": [("normalize", [[(2, 2)]], []), ("normalize", [[(1, 2), (3, 3)]], [(1, 2)]), ("normalize", [[(4, 3)]], [])],
    "gap": [("normalize", [[(1, 3), (5, 6)], 2], [(1, 6)]), ("normalize", [[(1, 3), (6, 7)], 2], [(1, 3), (6, 7)])],
    "contains_inside": [("contains", [[(1, 4), (6, 9)], 2], True), ("contains", [[(1, 4), (6, 9)], 7], True)],
    "contains_ends": [("contains", [[(1, 4)], 1], True), ("contains", [[(1, 4)], 4], False), ("contains", [[(1, 4), (6, 7)], 6], True)],
    "contains_outside": [("contains", [[(1, 4), (6, 9)], 5], False), ("contains", [[(1, 4)], 0], False), ("contains", [[], 1], False)],
    "contains_last": [("contains", [[(1, 2), (3, 4), (5, 6)], 5], True), ("contains", [[(1, 2), (3, 4)], 9], False)],
    "total": [("total", [[(1, 4), (7, 9)]], 5), ("total", [[]], 0)],
    "total_once": [("total", [[(1, 4), (2, 6)]], 5), ("total", [[(1, 4), (1, 4)]], 3)],
    "union": [("union", [[(1, 3)], [(2, 5)]], [(1, 5)]), ("union", [[(5, 6)], [], [(1, 2)]], [(1, 2), (5, 6)]), ("union", [], [])],
    "intersection": [("intersection", [[(1, 5)], [(3, 8)]], [(3, 5)]), ("intersection", [[(1, 9)], [(2, 3), (4, 5)]], [(2, 3), (4, 5)])],
    "intersection_touching": [("intersection", [[(1, 3)], [(3, 5)]], []), ("intersection", [[(1, 3), (5, 7)], [(3, 5)]], [])],
    "intersection_many": [("intersection", [[(0, 4), (6, 9)], [(2, 7), (8, 12)]], [(2, 4), (6, 7), (8, 9)])],
    "intersection_unsorted": [("intersection", [[(6, 9), (0, 4)], [(3, 7)]], [(3, 4), (6, 7)])],
    "complement": [("complement", [[(2, 4)], 0, 6], [(0, 2), (4, 6)]), ("complement", [[], 1, 3], [(1, 3)])],
    "complement_many": [("complement", [[(2, 3), (5, 6)], 1, 9], [(1, 2), (3, 5), (6, 9)])],
    "complement_edges": [("complement", [[(0, 2), (4, 6)], 0, 6], [(2, 4)]), ("complement", [[(0, 6)], 0, 6], [])],
    "complement_beyond": [("complement", [[(-5, 2), (8, 20)], 0, 6], [(2, 6)]), ("complement", [[(-5, -3), (2, 3)], 0, 4], [(0, 2), (3, 4)])],
    "difference": [("difference", [[(1, 9)], [(3, 5)]], [(1, 3), (5, 9)]), ("difference", [[(1, 4)], []], [(1, 4)])],
    "difference_empty": [("difference", [[], [(1, 2)]], []), ("difference", [[(1, 4)], [(0, 9)]], [])],
    "difference_many": [("difference", [[(1, 4), (6, 9)], [(3, 7)]], [(1, 3), (7, 9)])],
    "parse": [("parse_set", ["1-3"], [(1, 4)]), ("parse_set", ["1-3, 7-9"], [(1, 4), (7, 10)])],
    "parse_single": [("parse_set", ["7"], [(7, 8)]), ("parse_set", [" 1 , 3 "], [(1, 2), (3, 4)])],
    "parse_blank": [("parse_set", [""], []), ("parse_set", ["1, ,3,"], [(1, 2), (3, 4)])],
    "parse_separator": [("parse_set", ["1-2;4", ";"], [(1, 3), (4, 5)]), ("parse_set", ["1-2,3"], [(1, 4)])],
    "parse_errors": [
        ("parse_set", ["5-3"], Error("ValueError")),
        ("parse_set", ["x"], Error("ValueError")),
        ("parse_set", ["4-4"], [(4, 5)]),
    ],
    "format": [("format_set", [[(1, 4), (7, 10)]], "1-3, 7-9"), ("format_set", [[]], "")],
    "format_single": [("format_set", [[(7, 8)]], "7"), ("format_set", [[(1, 3), (5, 6)]], "1-2, 5")],
    "format_separator": [("format_set", [[(1, 2), (3, 4)], ";"], "1;3")],
}

COUNTED = [
    case
    for a in range(0, 2**POINTS, 5)
    for b in ((a * 37 + 11) % 2**POINTS, (a * 53 + 70) % 2**POINTS)
    for x, y in [(as_intervals(members(a)), as_intervals(members(b)))]
    for case in [
        ("union", [x, y], as_intervals({*members(a), *members(b)})),
        ("intersection", [x, y], as_intervals({*members(a)} & {*members(b)})),
    ]
]
