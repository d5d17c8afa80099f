"""Verifier of the exam timetable: the twin of check.js, for a shell.

    python3 verifier/check.py

prints the report of artifact/timetable.json. PAWL_CANDIDATE (folder of the candidate), PAWL_REPORT (file that takes the report),
PAWL_NONCE, PAWL_TREE and PAWL_CONTRACT are used where they are set. The exit code says nothing about the timetable: it is 0 whenever a
report was made. A test holds this file and check.js to the same report.
"""

import json
import os
import sys
from pathlib import Path

# The worst value of each obligation, as in task.toml; keep both in step.
CAPS = {
    "complete": 500,
    "placed": 500,
    "clashes": 5000,
    "seats": 5000,
    "unavailable": 500,
    "same_day": 5000,
    "back_to_back": 5000,
    "spread": 500,
    "marking": 30,
    "order": 100,
    "computers": 1,
}

# At most this many offenders are named in the text of an obligation.
NAMED = 5


def listing(offenders):
    more = len(offenders) - NAMED
    return "; ".join(offenders[:NAMED]) + (f"; and {more} more" if more > 0 else "")


def plural(n, one):
    return f"1 {one}" if n == 1 else f"{n} {one}s"


class Timetable:
    """Every sitting as (exam, room), indexes into the instance, by slot."""

    def __init__(self, timetable, instance):
        exam_of = {f"{exam['id']} {exam['title']}": e for e, exam in enumerate(instance["exams"])}
        room_of = {room["id"]: r for r, room in enumerate(instance["rooms"])}

        def read(entries):
            pairs = [(exam_of.get(entry["exam"]), room_of.get(entry["room"])) for entry in entries]
            return [(exam, room) for exam, room in pairs if exam is not None and room is not None]

        self.unplaced = read(timetable["unplaced"])
        self.by_slot = [read(timetable["slots"].get(slot["id"], [])) for slot in instance["slots"]]
        self.slots_of = [[] for _ in instance["exams"]]
        for s, sittings in enumerate(self.by_slot):
            for exam, _ in sittings:
                self.slots_of[exam].append(s)


def complete(instance, table):
    count = [len(slots) for slots in table.slots_of]
    for exam, _ in table.unplaced:
        count[exam] += 1
    value, offenders = 0, []
    for exam, n in zip(instance["exams"], count):
        if n == 1:
            continue
        value += abs(n - 1)
        offenders.append(f"{exam['id']} is missing" if n == 0 else f"{exam['id']} is listed {n} times")
    return value, offenders


def placed(instance, table):
    offenders = [exam["id"] for exam, slots in zip(instance["exams"], table.slots_of) if not slots]
    return len(offenders), offenders


def clashes(instance, table):
    value, offenders = 0, []
    for slot, sittings in zip(instance["slots"], table.by_slot):
        exams = [instance["exams"][exam] for exam, _ in sittings]
        seen = set()
        for exam in exams:
            value += len(seen.intersection(exam["students"]))
            seen.update(exam["students"])
        for i, a in enumerate(exams):
            for b in exams[i + 1 :]:
                shared = len(set(a["students"]).intersection(b["students"]))
                if shared > 0:
                    offenders.append(f"{slot['id']}: {a['id']} and {b['id']} share {plural(shared, 'student')}")
    return value, offenders


def seats(instance, table):
    value, offenders = 0, []
    for slot, sittings in zip(instance["slots"], table.by_slot):
        for r, room in enumerate(instance["rooms"]):
            needed = sum(len(instance["exams"][exam]["students"]) for exam, where in sittings if where == r)
            if needed > room["seats"]:
                value += needed - room["seats"]
                offenders.append(f"{slot['id']}, {room['id']}: {needed} students for {room['seats']} seats")
    return value, offenders


def unavailable(instance, table):
    value, offenders = 0, []
    away = {lecturer["id"]: lecturer["unavailable"] for lecturer in instance["lecturers"]}
    for s, sittings in enumerate(table.by_slot):
        slot = instance["slots"][s]["id"]
        busy = set()
        for e, r in sittings:
            exam, room = instance["exams"][e], instance["rooms"][r]
            lecturer = exam["lecturer"]
            if s in room["unavailable"]:
                value += 1
                offenders.append(f"{exam['id']}: {room['id']} is taken on {slot}")
            if s in away[lecturer]:
                value += 1
                offenders.append(f"{exam['id']}: {lecturer} is away on {slot}")
            if lecturer in busy:
                value += 1
                offenders.append(f"{exam['id']}: {lecturer} has another exam on {slot}")
            busy.add(lecturer)
    return value, offenders


def days(instance, table):
    """Same day and back to back: (value, offenders) of each."""
    slots = instance["slots"]
    load = [[0] * len(slots) for _ in range(instance["students"])]
    for s, sittings in enumerate(table.by_slot):
        for exam, _ in sittings:
            for student in instance["exams"][exam]["students"]:
                load[student][s] += 1
    crowded = [0] * len(instance["days"])
    hurried = [0] * len(instance["days"])
    for row in load:
        a_day = [0] * len(instance["days"])
        for s, here in enumerate(row):
            day = slots[s]["day"]
            a_day[day] += here
            if s > 0 and slots[s - 1]["day"] == day and here > 0 and row[s - 1] > 0:
                hurried[day] += 1
        for day, count in enumerate(a_day):
            crowded[day] += max(0, count - instance["max_exams_a_day"])

    def named(counts):
        return [f"{day}: {plural(n, 'student')}" for day, n in zip(instance["days"], counts) if n > 0]

    return (sum(crowded), named(crowded)), (sum(hurried), named(hurried))


def spread(instance, table):
    value, offenders = 0, []
    for cohort in instance["cohorts"]:
        used = {instance["slots"][s]["day"] for exam in cohort["exams"] for s in table.slots_of[exam]}
        missing = cohort["days"] - len(used)
        if missing > 0:
            value += missing
            offenders.append(f"{cohort['id']}: {plural(len(used), 'day')} instead of {cohort['days']}")
    return value, offenders


def marking(instance, table):
    value, offenders = 0, []
    for exam, slots in zip(instance["exams"], table.slots_of):
        if len(exam["students"]) < instance["large"]["students"]:
            continue
        late = max([0] + [instance["slots"][s]["day"] - instance["large"]["last_day"] for s in slots])
        if late > 0:
            offenders.append(f"{exam['id']}: {plural(len(exam['students']), 'student')}, {plural(late, 'day')} late")
        value = max(value, late)
    return value, offenders


def order(instance, table):
    offenders = []
    for before, after in instance["order"]:
        first, second = table.slots_of[before], table.slots_of[after]
        if not (first and second and max(first) < min(second)):
            offenders.append(f"{instance['exams'][before]['id']} must come before {instance['exams'][after]['id']}")
    return len(offenders), offenders


def computers(instance, table):
    wanted = instance["computers"]
    name = instance["exams"][wanted["exam"]]["id"]
    rooms = [room for sittings in table.by_slot for exam, room in sittings if exam == wanted["exam"]]
    wrong = [room for room in rooms if room not in wanted["rooms"]]
    if rooms and not wrong:
        return 0, []
    return 1, [f"{name} is in {instance['rooms'][wrong[0]]['id']}" if rooms else f"{name} has no room"]


def verify(timetable, instance):
    table = Timetable(timetable, instance)
    same_day, back_to_back = days(instance, table)
    found = {
        "complete": complete(instance, table),
        "placed": placed(instance, table),
        "clashes": clashes(instance, table),
        "seats": seats(instance, table),
        "unavailable": unavailable(instance, table),
        "same_day": same_day,
        "back_to_back": back_to_back,
        "spread": spread(instance, table),
        "marking": marking(instance, table),
        "order": order(instance, table),
        "computers": computers(instance, table),
    }
    return {
        "nonce": os.environ.get("PAWL_NONCE", ""),
        "tree": os.environ.get("PAWL_TREE", ""),
        "contract": os.environ.get("PAWL_CONTRACT", ""),
        "values": {key: min(found[key][0], cap) for key, cap in CAPS.items()},
        "advisory": {},
        "details": {key: listing(found[key][1]) for key in CAPS},
    }


def main():
    verifier = Path(__file__).resolve().parent
    candidate = Path(os.environ.get("PAWL_CANDIDATE", verifier.parent / "artifact"))
    instance = json.loads((verifier / "instance.json").read_text(encoding="utf-8"))
    timetable = json.loads((candidate / "timetable.json").read_text(encoding="utf-8"))
    report = verify(timetable, instance)
    if "PAWL_REPORT" in os.environ:
        Path(os.environ["PAWL_REPORT"]).write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")
    else:
        json.dump(report, sys.stdout, ensure_ascii=False, indent=2)
        print()


if __name__ == "__main__":
    main()
