//! The trace as JSON, one event a line, in the format that chrome://tracing made and Perfetto reads.
//!
//! Lanes are processes and tracks are threads there. Text is made by hand: with a serializer, most of the time would go into
//! names of fields that are always the same.

use std::io::{self, Write};

use ringlane_task::{TaskId, Ticks};

use super::TraceSource;
use super::clock::Clock;
use super::names::Names;
use super::sink::{Arg, Group, Sink, Slice, Track, TrackKind, Value};

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 1 << 18;

pub(super) struct JsonSink<'w, W> {
    out: &'w mut W,
    text: Vec<u8>,
    clock: Clock,
    /// Names as JSON strings.
    names: Vec<Vec<u8>>,
    tracks: u32,
    group: Option<Group>,
    /// `"pid":3,"tid":7,"ts":` of the track.
    place: Vec<u8>,
    /// A counter's name as a JSON string.
    counter: Vec<u8>,
}

impl<'w, W: Write> JsonSink<'w, W> {
    pub(super) fn new(out: &'w mut W, source: TraceSource<'_>, names: &Names) -> io::Result<Self> {
        let clock_freq_hz = source.timeline.clock_freq_hz;
        let clock = Clock::microseconds(clock_freq_hz);
        let mut text = Vec::with_capacity(2 * BUFFER_BYTES);
        write!(text, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"run\":")?;
        string(&mut text, source.title);
        write!(text, ",\"clock_freq_hz\":{clock_freq_hz},\"makespan_ticks\":{}", source.timeline.makespan)?;
        write!(text, ",\"chip_swimlane_level\":{}}},\n\"traceEvents\":[", source.timeline.level.number())?;
        let escaped = |name: &String| {
            let mut text = Vec::new();
            string(&mut text, name);
            text
        };
        let names = names.all().iter().map(escaped).collect();
        let (place, counter) = (Vec::new(), Vec::new());
        Ok(JsonSink { out, text, clock, names, tracks: 0, group: None, place, counter })
    }

    fn spill(&mut self) -> io::Result<()> {
        if self.text.len() >= BUFFER_BYTES {
            self.out.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Starts an event after the one before it.
    fn event(&mut self, start: &[u8]) {
        if self.text.last() != Some(&b'[') {
            self.text.push(b',');
        }
        self.text.push(b'\n');
        self.text.extend_from_slice(start);
    }

    fn raw(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    fn number(&mut self, value: u64) {
        self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// A time or a duration in µs.
    fn time(&mut self, units: u64) {
        decimal(&mut self.text, units, self.clock.digits());
    }

    fn metadata(&mut self, what: &str, name: Option<&str>, order: u32) {
        let (pid, tid) = (self.group.map_or(0, pid), self.tracks);
        self.event(b"{\"ph\":\"M\",\"pid\":");
        self.number(u64::from(pid));
        self.raw(b",\"tid\":");
        self.number(u64::from(tid));
        self.raw(b",\"name\":\"");
        self.raw(what.as_bytes());
        match name {
            Some(name) => {
                self.raw(b"\",\"args\":{\"name\":");
                string(&mut self.text, name);
            }
            None => {
                self.raw(b"\",\"args\":{\"sort_index\":");
                self.number(u64::from(order));
            }
        }
        self.raw(b"}}");
    }

    /// One end of an arrow.
    fn arrow(&mut self, start: &[u8], number: u64, at: u64) {
        self.event(start);
        self.number(number);
        self.text.push(b',');
        self.text.extend_from_slice(&self.place);
        self.time(at);
        self.text.push(b'}');
    }
}

impl<W: Write> Sink for JsonSink<'_, W> {
    fn track(&mut self, track: &Track) -> io::Result<()> {
        self.tracks += 1;
        if self.group != Some(track.group) {
            self.group = Some(track.group);
            self.metadata("process_name", Some(&track.family), 0);
            self.metadata("process_sort_index", None, pid(track.group));
        }
        if track.kind == TrackKind::Slices {
            self.metadata("thread_name", Some(&track.name), 0);
            self.metadata("thread_sort_index", None, self.tracks);
        }
        self.place.clear();
        write!(self.place, "\"pid\":{},\"tid\":{},\"ts\":", pid(track.group), self.tracks)?;
        self.counter.clear();
        string(&mut self.counter, &track.name);
        self.spill()
    }

    fn slice(&mut self, slice: Slice<'_>) -> io::Result<()> {
        let start = self.clock.units(slice.start.0);
        let end = self.clock.units(slice.end.0).max(start);
        self.event(b"{\"ph\":\"X\",");
        self.text.extend_from_slice(&self.place);
        self.time(start);
        self.raw(b",\"dur\":");
        self.time(end - start);
        self.raw(b",\"name\":");
        self.text.extend_from_slice(&self.names[slice.name.0 as usize]);
        let mut before: &[u8] = b",\"args\":{\"";
        for &(arg, value) in slice.args {
            self.raw(before);
            self.raw(arg.name().as_bytes());
            self.raw(b"\":");
            match arg {
                Arg::Task => write!(self.text, "\"{}\"", TaskId(value))?,
                Arg::Label => self.text.extend_from_slice(&self.names[value as usize]),
                _ => self.number(value),
            }
            before = b",\"";
        }
        self.raw(if slice.args.is_empty() { b"}" } else { b"}}" });
        for &number in slice.arrows_in {
            self.arrow(
                b"{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"edge\",\"name\":\"edge\",\"id\":",
                number,
                start,
            );
        }
        // An arrow belongs to the slice around it, and a slice does not hold its own end.
        let leave = end.saturating_sub(1).max(start);
        for &number in slice.arrows_out {
            self.arrow(b"{\"ph\":\"s\",\"cat\":\"edge\",\"name\":\"edge\",\"id\":", number, leave);
        }
        self.spill()
    }

    fn value(&mut self, at: Ticks, value: Value) -> io::Result<()> {
        let at = self.clock.units(at.0);
        self.event(b"{\"ph\":\"C\",");
        self.text.extend_from_slice(&self.place);
        self.time(at);
        self.raw(b",\"name\":");
        self.text.extend_from_slice(&self.counter);
        self.raw(b",\"args\":{\"value\":");
        match value {
            Value::Whole(value) => self.number(value),
            Value::Thousandths(value) => decimal(&mut self.text, value, 3),
        }
        self.raw(b"}}");
        self.spill()
    }

    fn finish(mut self) -> io::Result<()> {
        self.raw(b"\n]}\n");
        self.out.write_all(&self.text)
    }
}

/// Processes are numbered from 1: 0 is the idle process to some readers.
const fn pid(group: Group) -> u32 {
    group.order() + 1
}

/// A number of units with a point before the last digits.
fn decimal(text: &mut Vec<u8>, units: u64, digits: usize) {
    let mut buffer = itoa::Buffer::new();
    let all = buffer.format(units).as_bytes();
    match all.len().checked_sub(digits) {
        Some(whole) if whole > 0 => {
            text.extend_from_slice(&all[..whole]);
            if digits > 0 {
                text.push(b'.');
                text.extend_from_slice(&all[whole..]);
            }
        }
        _ => {
            text.extend_from_slice(if units == 0 { b"0" } else { b"0." });
            if units > 0 {
                text.extend(std::iter::repeat_n(b'0', digits - all.len()));
                text.extend_from_slice(all);
            }
        }
    }
}

/// A JSON string, quotes included; also safe inside of a script in a page.
fn string(text: &mut Vec<u8>, value: &str) {
    let json = serde_json::to_string(value).expect("a string is a JSON string");
    text.extend_from_slice(json.replace('<', "\\u003c").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_written_before_the_last_digits() {
        let written = |units, digits| {
            let mut text = Vec::new();
            decimal(&mut text, units, digits);
            String::from_utf8(text).unwrap()
        };
        let cases = [(0, 3), (5, 3), (50, 3), (123, 3), (1234, 3), (100_000, 4), (7, 0), (0, 0)];
        let expected = ["0", "0.005", "0.050", "0.123", "1.234", "10.0000", "7", "0"];
        assert_eq!(cases.map(|(units, digits)| written(units, digits)), expected);
    }
}
