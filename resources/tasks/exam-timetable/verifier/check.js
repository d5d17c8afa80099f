// Verifier of the exam timetable. Counts what is wrong with artifact/timetable.json against verifier/instance.json.
//
// It runs without any access to the machine: `pawl.files` holds the text of the candidate's and the verifier's files, and whatever
// verify() returns is the report. check.py is its twin in Python; a test holds both to the same report.
'use strict';

// The worst value of each obligation, as in task.toml; keep both in step.
const CAPS = {
  complete: 500,
  placed: 500,
  clashes: 5000,
  seats: 5000,
  unavailable: 500,
  same_day: 5000,
  back_to_back: 5000,
  spread: 500,
  marking: 30,
  order: 100,
  computers: 1,
};

// At most this many offenders are named in the text of an obligation.
const NAMED = 5;

function list(offenders) {
  const more = offenders.length - NAMED;
  return offenders.slice(0, NAMED).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function plural(n, one) {
  return n === 1 ? `1 ${one}` : `${n} ${one}s`;
}

// Every sitting in the timetable: an exam at a slot in a room, as indexes into the instance. The schema has already fixed the shape and
// the names, so whatever is not recognised here can only be absent.
function readTimetable(timetable, instance) {
  const examOf = new Map(instance.exams.map((exam, i) => [`${exam.id} ${exam.title}`, i]));
  const roomOf = new Map(instance.rooms.map((room, i) => [room.id, i]));
  const read = (entries) => {
    const sittings = [];
    for (const entry of entries || []) {
      const exam = examOf.get(entry.exam);
      const room = roomOf.get(entry.room);
      if (exam !== undefined && room !== undefined) sittings.push({ exam, room });
    }
    return sittings;
  };
  return { unplaced: read(timetable.unplaced), bySlot: instance.slots.map((slot) => read(timetable.slots[slot.id])) };
}

// Each exam is listed exactly once, with or without a slot: none is lost, none is held twice.
function complete(instance, unplaced, slotsOf) {
  const count = slotsOf.map((slots) => slots.length);
  for (const { exam } of unplaced) count[exam] += 1;
  let value = 0;
  const offenders = [];
  instance.exams.forEach((exam, e) => {
    if (count[e] === 1) return;
    value += Math.abs(count[e] - 1);
    offenders.push(count[e] === 0 ? `${exam.id} is missing` : `${exam.id} is listed ${count[e]} times`);
  });
  return { value, offenders };
}

// Each exam has a slot.
function placed(instance, slotsOf) {
  const offenders = instance.exams.flatMap((exam, e) => (slotsOf[e].length === 0 ? [exam.id] : []));
  return { value: offenders.length, offenders };
}

// No student sits two exams at once: for every student and slot, the exams beyond the first.
function clashes(instance, bySlot) {
  let value = 0;
  const offenders = [];
  bySlot.forEach((sittings, s) => {
    if (sittings.length < 2) return;
    const seen = new Uint8Array(instance.students);
    for (const { exam } of sittings) {
      for (const student of instance.exams[exam].students) {
        value += seen[student];
        seen[student] = 1;
      }
    }
    for (let i = 0; i < sittings.length; i++) {
      const first = new Uint8Array(instance.students);
      const a = instance.exams[sittings[i].exam];
      for (const student of a.students) first[student] = 1;
      for (let j = i + 1; j < sittings.length; j++) {
        const b = instance.exams[sittings[j].exam];
        let shared = 0;
        for (const student of b.students) shared += first[student];
        if (shared > 0) offenders.push(`${instance.slots[s].id}: ${a.id} and ${b.id} share ${plural(shared, 'student')}`);
      }
    }
  });
  return { value, offenders };
}

// Exams may share a room as long as everybody has a seat.
function seats(instance, bySlot) {
  let value = 0;
  const offenders = [];
  bySlot.forEach((sittings, s) => {
    const needed = instance.rooms.map(() => 0);
    for (const { exam, room } of sittings) needed[room] += instance.exams[exam].students.length;
    instance.rooms.forEach((room, r) => {
      const missing = needed[r] - room.seats;
      if (missing <= 0) return;
      value += missing;
      offenders.push(`${instance.slots[s].id}, ${room.id}: ${needed[r]} students for ${room.seats} seats`);
    });
  });
  return { value, offenders };
}

// Rooms that are taken, lecturers who are away, lecturers needed twice at once.
function unavailable(instance, bySlot) {
  let value = 0;
  const offenders = [];
  const lecturerOf = new Map(instance.lecturers.map((lecturer) => [lecturer.id, lecturer]));
  bySlot.forEach((sittings, s) => {
    const busy = new Set();
    for (const { exam: e, room: r } of sittings) {
      const exam = instance.exams[e];
      const room = instance.rooms[r];
      if (room.unavailable.includes(s)) {
        value += 1;
        offenders.push(`${exam.id}: ${room.id} is taken on ${instance.slots[s].id}`);
      }
      if (lecturerOf.get(exam.lecturer).unavailable.includes(s)) {
        value += 1;
        offenders.push(`${exam.id}: ${exam.lecturer} is away on ${instance.slots[s].id}`);
      }
      if (busy.has(exam.lecturer)) {
        value += 1;
        offenders.push(`${exam.id}: ${exam.lecturer} has another exam on ${instance.slots[s].id}`);
      }
      busy.add(exam.lecturer);
    }
  });
  return { value, offenders };
}

// How many exams each student has in each slot: [student * slots + slot].
function loads(instance, bySlot) {
  const load = new Uint8Array(instance.students * instance.slots.length);
  bySlot.forEach((sittings, s) => {
    for (const { exam } of sittings) for (const student of instance.exams[exam].students) load[student * instance.slots.length + s] += 1;
  });
  return load;
}

// The exams of a student beyond the number that one day may hold, and the pairs of neighbouring periods that both hold one.
function days(instance, load) {
  const width = instance.slots.length;
  const crowded = instance.days.map(() => 0);
  const hurried = instance.days.map(() => 0);
  let sameDay = 0;
  let backToBack = 0;
  for (let student = 0; student < instance.students; student++) {
    let day = -1;
    let count = 0;
    for (let s = 0; s < width; s++) {
      const here = load[student * width + s];
      if (instance.slots[s].day !== day) {
        day = instance.slots[s].day;
        count = 0;
      } else if (here > 0 && load[student * width + s - 1] > 0) {
        backToBack += 1;
        hurried[day] += 1;
      }
      for (let i = 0; i < here; i++) {
        count += 1;
        if (count > instance.max_exams_a_day) {
          sameDay += 1;
          crowded[day] += 1;
        }
      }
    }
  }
  const name = (counts) => instance.days.flatMap((day, d) => (counts[d] === 0 ? [] : [`${day}: ${plural(counts[d], 'student')}`]));
  return { same_day: { value: sameDay, offenders: name(crowded) }, back_to_back: { value: backToBack, offenders: name(hurried) } };
}

// The compulsory exams of one year of one programme fall on enough different days: the days missing, over all of them.
function spread(instance, slotsOf) {
  let value = 0;
  const offenders = [];
  for (const cohort of instance.cohorts) {
    const used = new Set();
    for (const e of cohort.exams) for (const s of slotsOf[e]) used.add(instance.slots[s].day);
    const missing = cohort.days - used.size;
    if (missing <= 0) continue;
    value += missing;
    offenders.push(`${cohort.id}: ${plural(used.size, 'day')} instead of ${cohort.days}`);
  }
  return { value, offenders };
}

// Large exams come early enough to be marked: the working days by which the last one of them is late.
function marking(instance, slotsOf) {
  let value = 0;
  const offenders = [];
  instance.exams.forEach((exam, e) => {
    if (exam.students.length < instance.large.students) return;
    let late = 0;
    for (const s of slotsOf[e]) late = Math.max(late, instance.slots[s].day - instance.large.last_day);
    if (late > 0) offenders.push(`${exam.id}: ${plural(exam.students.length, 'student')}, ${plural(late, 'day')} late`);
    value = Math.max(value, late);
  });
  return { value, offenders };
}

// One exam before another. An exam without a slot is in no order, so the pair counts until both have one.
function order(instance, slotsOf) {
  const offenders = [];
  for (const [before, after] of instance.order) {
    const inOrder = slotsOf[before].length > 0 && slotsOf[after].length > 0 && Math.max(...slotsOf[before]) < Math.min(...slotsOf[after]);
    if (!inOrder) offenders.push(`${instance.exams[before].id} must come before ${instance.exams[after].id}`);
  }
  return { value: offenders.length, offenders };
}

// One exam is written at computers.
function computers(instance, bySlot) {
  const exam = instance.exams[instance.computers.exam];
  const rooms = [];
  for (const sittings of bySlot) {
    for (const sitting of sittings) if (sitting.exam === instance.computers.exam) rooms.push(sitting.room);
  }
  const wrong = rooms.filter((room) => !instance.computers.rooms.includes(room));
  if (rooms.length > 0 && wrong.length === 0) return { value: 0, offenders: [] };
  return { value: 1, offenders: [rooms.length === 0 ? `${exam.id} has no room` : `${exam.id} is in ${instance.rooms[wrong[0]].id}`] };
}

function verify(pawl) {
  const instance = JSON.parse(pawl.files['verifier/instance.json']);
  const timetable = JSON.parse(pawl.files['artifact/timetable.json']);
  const { unplaced, bySlot } = readTimetable(timetable, instance);
  const slotsOf = instance.exams.map(() => []);
  bySlot.forEach((sittings, s) => {
    for (const { exam } of sittings) slotsOf[exam].push(s);
  });
  const found = {
    complete: complete(instance, unplaced, slotsOf),
    placed: placed(instance, slotsOf),
    clashes: clashes(instance, bySlot),
    seats: seats(instance, bySlot),
    unavailable: unavailable(instance, bySlot),
    ...days(instance, loads(instance, bySlot)),
    spread: spread(instance, slotsOf),
    marking: marking(instance, slotsOf),
    order: order(instance, slotsOf),
    computers: computers(instance, bySlot),
  };
  const values = {};
  const details = {};
  for (const key of Object.keys(CAPS)) {
    values[key] = Math.min(found[key].value, CAPS[key]);
    details[key] = list(found[key].offenders);
  }
  return { nonce: pawl.nonce, tree: pawl.tree, contract: pawl.contract, values, advisory: {}, details };
}
