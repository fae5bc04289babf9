//! Perfetto's messages, as much of them as a check needs, decoded by a library that the product does not use.

use std::collections::HashMap;
use std::io::Read;

use prost::Message;

use super::{Counter, Slice, Trace};

#[derive(Clone, PartialEq, Message)]
struct Packets {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(message, optional, tag = "6")]
    clock_snapshot: Option<ClockSnapshot>,
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    sequence: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned: Option<Interned>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(bytes = "vec", optional, tag = "50")]
    compressed: Option<Vec<u8>>,
    #[prost(message, optional, tag = "59")]
    defaults: Option<Defaults>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    clocks: Vec<ClockAt>,
}

#[derive(Clone, PartialEq, Message)]
struct ClockAt {
    #[prost(uint32, optional, tag = "1")]
    clock_id: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    timestamp: Option<u64>,
    #[prost(bool, optional, tag = "3")]
    is_incremental: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
struct Defaults {
    #[prost(uint32, optional, tag = "58")]
    clock_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    event: Option<EventDefaults>,
}

#[derive(Clone, PartialEq, Message)]
struct EventDefaults {
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    parent: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct CounterDescriptor {}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    annotations: Vec<Annotation>,
    #[prost(uint32, optional, tag = "9")]
    kind: Option<u32>,
    #[prost(uint64, optional, tag = "10")]
    name: Option<u64>,
    #[prost(int64, optional, tag = "30")]
    counter_value: Option<i64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flows: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    ending_flows: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct Annotation {
    #[prost(uint64, optional, tag = "1")]
    name: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    text: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Interned {
    #[prost(message, repeated, tag = "2")]
    names: Vec<Name>,
    #[prost(message, repeated, tag = "3")]
    annotation_names: Vec<Name>,
}

#[derive(Clone, PartialEq, Message)]
struct Name {
    #[prost(uint64, optional, tag = "1")]
    number: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
}

/// What a sequence of packets has said so far.
#[derive(Default)]
struct Sequence {
    track: u64,
    now: u64,
    names: HashMap<u64, String>,
    annotation_names: HashMap<u64, String>,
    open: Vec<Slice>,
}

#[derive(Default)]
struct Decoder {
    tracks: HashMap<u64, TrackDescriptor>,
    sequences: HashMap<u32, Sequence>,
    trace: Trace,
}

/// The trace of a file.
pub fn read(bytes: &[u8]) -> Trace {
    let mut decoder = Decoder::default();
    for packet in Packets::decode(bytes).expect("packets").packet {
        let packed = packet.compressed.expect("every packet of the file is compressed");
        let mut plain = Vec::new();
        flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut plain).expect("zlib");
        Packets::decode(&plain[..])
            .expect("packets")
            .packet
            .into_iter()
            .for_each(|packet| decoder.packet(packet));
    }
    assert!(decoder.sequences.values().all(|sequence| sequence.open.is_empty()), "every slice ends");
    decoder.trace
}

impl Decoder {
    fn packet(&mut self, packet: Packet) {
        if let Some(track) = packet.track_descriptor {
            self.tracks.insert(track.uuid.unwrap(), track);
            return;
        }
        let sequence = self.sequences.entry(packet.sequence.unwrap()).or_default();
        if let Some(defaults) = packet.defaults {
            assert_eq!((packet.sequence_flags, defaults.clock_id), (Some(1), Some(64)));
            sequence.track = defaults.event.unwrap().track_uuid.unwrap();
        }
        if let Some(snapshot) = packet.clock_snapshot {
            assert_eq!(snapshot.clocks[0].is_incremental, Some(true));
        }
        for name in packet.interned.iter().flat_map(|interned| &interned.names) {
            sequence.names.insert(name.number.unwrap(), name.name.clone().unwrap());
        }
        for name in packet.interned.iter().flat_map(|interned| &interned.annotation_names) {
            sequence.annotation_names.insert(name.number.unwrap(), name.name.clone().unwrap());
        }
        let Some(event) = packet.track_event else { return };
        assert_eq!(packet.sequence_flags, Some(2));
        sequence.now += packet.timestamp.unwrap();
        let named = |uuid: u64| self.tracks[&uuid].name.clone().unwrap();
        let track = (named(self.tracks[&sequence.track].parent.unwrap()), named(sequence.track));
        let is_counter = self.tracks[&sequence.track].counter.is_some();
        match event.kind.unwrap() {
            1 => {
                let argument = |a: &Annotation| {
                    let name = sequence.annotation_names[&a.name.unwrap()].clone();
                    let value = match name.as_str() {
                        "task" => super::task_id(a.text.as_deref().expect("ring:number")),
                        _ => a.value.unwrap(),
                    };
                    (name, value)
                };
                let args = event.annotations.iter().map(argument).collect();
                let name = sequence.names[&event.name.unwrap()].clone();
                let (start, end) = (sequence.now, 0);
                let (arrows_out, arrows_in) = (event.flows, event.ending_flows);
                sequence.open.push(Slice { track, name, start, end, args, arrows_out, arrows_in });
            }
            2 => {
                let end = sequence.now;
                self.trace.slices.push(Slice { end, ..sequence.open.pop().expect("an open slice") });
            }
            4 => {
                assert!(is_counter);
                let value = event.counter_value.expect("a whole number") as f64;
                self.trace.counters.push(Counter { name: track.1, at: sequence.now, value });
            }
            other => panic!("an event of type {other}"),
        }
    }
}
