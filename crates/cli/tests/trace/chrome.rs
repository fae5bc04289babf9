//! The trace as JSON, read as chrome://tracing and Perfetto read it: arrows belong to the slice around their time.

use std::collections::HashMap;

use serde_json::Value;

use super::{Counter, Slice, Trace};

/// An argument's number; a task is shown by its name.
fn number(name: &str, value: &Value) -> u64 {
    match name {
        "task" => super::task_id(value.as_str().expect("ring:number")),
        _ => value.as_u64().unwrap(),
    }
}

/// The trace of a file, in ns.
pub fn read(text: &str) -> Trace {
    let document: Value = serde_json::from_str(text).expect("JSON");
    // As Perfetto does: times and durations are rounded each on its own.
    let ns = |us: f64| (us * 1e3).round() as u64;
    let events = document["traceEvents"].as_array().unwrap();
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let mut names = HashMap::new();
    for event in of("M").filter(|event| event["args"]["name"].is_string()) {
        let thread = if event["name"] == "process_name" { 0 } else { event["tid"].as_u64().unwrap() };
        names.insert(
            (event["pid"].as_u64().unwrap(), thread),
            event["args"]["name"].as_str().unwrap().to_string(),
        );
    }
    let place = |event: &Value| (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
    let time = |event: &Value| event["ts"].as_f64().unwrap();
    let mut trace = Trace::default();
    let mut by_place: HashMap<_, Vec<(f64, f64, usize)>> = HashMap::new();
    for event in of("X") {
        let (start, duration) = (time(event), event["dur"].as_f64().unwrap());
        let args = event["args"].as_object().into_iter().flatten();
        let (pid, tid) = place(event);
        by_place.entry(place(event)).or_default().push((start, start + duration, trace.slices.len()));
        trace.slices.push(Slice {
            track: (names[&(pid, 0)].clone(), names[&(pid, tid)].clone()),
            name: event["name"].as_str().unwrap().to_string(),
            start: ns(start),
            end: ns(start) + ns(duration),
            args: args.map(|(name, value)| (name.clone(), number(name, value))).collect(),
            arrows_out: Vec::new(),
            arrows_in: Vec::new(),
        });
    }
    let around = |event: &Value| {
        let at = time(event);
        let candidates = by_place[&place(event)].iter().filter(|(start, end, _)| *start <= at && at <= *end);
        // Where one slice ends as another starts, the one that starts; of those that take no time the one in order.
        candidates.map(|&(start, end, slice)| (start, end, slice)).collect::<Vec<_>>()
    };
    for (phase, is_out) in [("s", true), ("f", false)] {
        for event in of(phase) {
            let number = event["id"].as_u64().unwrap();
            let mut candidates = around(event);
            candidates.retain(|&(start, end, _)| start == end || time(event) < end);
            // In the text a slice precedes its arrows: of equal slices, the nearest one before an arrow is its own.
            let nearest = candidates.iter().map(|candidate| candidate.2).filter(|&slice| {
                let position =
                    |wanted: &Value| events.iter().position(|event| std::ptr::eq(event, wanted)).unwrap();
                position(of("X").nth(slice).unwrap()) < position(event)
            });
            let slice = &mut trace.slices[nearest.max().expect("a slice around the end of an arrow")];
            if is_out { slice.arrows_out.push(number) } else { slice.arrows_in.push(number) }
        }
    }
    for event in of("C") {
        let (name, value) =
            (event["name"].as_str().unwrap().to_string(), event["args"]["value"].as_f64().unwrap());
        trace.counters.push(Counter { name, at: ns(time(event)), value });
    }
    trace
}
