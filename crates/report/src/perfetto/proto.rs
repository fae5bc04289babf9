//! The trace in Perfetto's own format: `TracePacket`s, one after the other, compressed.
//!
//! Every track is a sequence of its own, so that packets need not name their track, times are differences to the packet
//! before, and names are interned once for each track. Packets are gathered and compressed by the thousand into
//! `compressed_packets`, which Perfetto unpacks as it reads.

use std::io::{self, Write};

use flate2::{Compression, write::ZlibEncoder};
use ringlane_task::{TaskId, Ticks};

use super::TraceSource;
use super::clock::Clock;
use super::names::{NameId, Names};
use super::sink::{Arg, Group, Sink, Slice, Track, TrackKind, Value};
use super::wire::{Field, Message};

/// Bytes of packets that are compressed together.
const BATCH_BYTES: usize = 1 << 18;

/// The fields of Perfetto's messages, from its `protos/perfetto/trace`.
mod field {
    use super::Field;
    pub(super) const TRACE_PACKET: Field = 1;
    // TracePacket
    pub(super) const CLOCK_SNAPSHOT: Field = 6;
    pub(super) const TIMESTAMP: Field = 8;
    pub(super) const SEQUENCE_ID: Field = 10;
    pub(super) const TRACK_EVENT: Field = 11;
    pub(super) const INTERNED_DATA: Field = 12;
    pub(super) const SEQUENCE_FLAGS: Field = 13;
    pub(super) const COMPRESSED_PACKETS: Field = 50;
    pub(super) const TIMESTAMP_CLOCK_ID: Field = 58;
    pub(super) const DEFAULTS: Field = 59;
    pub(super) const TRACK_DESCRIPTOR: Field = 60;
    // ClockSnapshot, and its Clock
    pub(super) const CLOCKS: Field = 1;
    pub(super) const CLOCK_ID: Field = 1;
    pub(super) const CLOCK_TIMESTAMP: Field = 2;
    pub(super) const CLOCK_IS_INCREMENTAL: Field = 3;
    // TracePacketDefaults
    pub(super) const TRACK_EVENT_DEFAULTS: Field = 11;
    // TrackDescriptor
    pub(super) const UUID: Field = 1;
    pub(super) const TRACK_NAME: Field = 2;
    pub(super) const PARENT_UUID: Field = 5;
    pub(super) const COUNTER: Field = 8;
    pub(super) const CHILD_ORDERING: Field = 11;
    pub(super) const SIBLING_ORDER_RANK: Field = 12;
    // TrackEvent, and its DebugAnnotation
    pub(super) const DEBUG_ANNOTATIONS: Field = 4;
    pub(super) const EVENT_TYPE: Field = 9;
    pub(super) const NAME_IID: Field = 10;
    pub(super) const EVENT_TRACK_UUID: Field = 11;
    pub(super) const COUNTER_VALUE: Field = 30;
    pub(super) const DOUBLE_COUNTER_VALUE: Field = 44;
    pub(super) const FLOW_IDS: Field = 47;
    pub(super) const TERMINATING_FLOW_IDS: Field = 48;
    pub(super) const ANNOTATION_NAME_IID: Field = 1;
    pub(super) const ANNOTATION_UINT: Field = 3;
    pub(super) const ANNOTATION_STRING: Field = 6;
    // InternedData, and its EventName and DebugAnnotationName
    pub(super) const EVENT_NAMES: Field = 2;
    pub(super) const ANNOTATION_NAMES: Field = 3;
    pub(super) const IID: Field = 1;
    pub(super) const NAME: Field = 2;
}

const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const COUNTER_EVENT: u64 = 4;

/// The packet starts its sequence anew, and the ones after it need what it says.
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;

/// Children of a track are in the order of their ranks.
const ORDER_EXPLICIT: u64 = 3;

/// A clock of one sequence only, whose times are differences, and the clock that traces are shown in.
const DELTA_CLOCK: u64 = 64;
const BOOT_CLOCK: u64 = 6;

/// The track that holds all others, and after it those of the lanes.
const ROOT_UUID: u64 = 1;
const GROUP_UUIDS: u64 = 2;
const TRACK_UUIDS: u64 = 1 << 32;

pub(super) struct ProtoSink<'w, W> {
    out: &'w mut W,
    clock: Clock,
    names: Vec<String>,
    /// The track in which each name was interned last.
    named_in: Vec<u64>,
    args_named_in: [u64; Arg::COUNT],
    /// Used again for every task's name.
    task_name: Vec<u8>,
    batch: Message,
    packet: Message,
    event: Message,
    inner: Message,
    interned: Message,
    track: u64,
    group: Option<Group>,
    /// Time of the last packet of the sequence.
    last: u64,
}

impl<'w, W: Write> ProtoSink<'w, W> {
    pub(super) fn new(out: &'w mut W, source: TraceSource<'_>, names: &Names) -> io::Result<Self> {
        let mut sink = ProtoSink {
            out,
            clock: Clock::nanoseconds(source.timeline.clock_freq_hz),
            named_in: vec![0; names.all().len()],
            args_named_in: [0; Arg::COUNT],
            task_name: Vec::new(),
            names: names.all().to_vec(),
            batch: Message::default(),
            packet: Message::default(),
            event: Message::default(),
            inner: Message::default(),
            interned: Message::default(),
            track: 0,
            group: None,
            last: 0,
        };
        sink.descriptor(ROOT_UUID, source.title, None, TrackKind::Slices)?;
        Ok(sink)
    }

    /// Writes a track's descriptor; `parent` is the track it is in, and its rank there.
    fn descriptor(
        &mut self,
        uuid: u64,
        name: &str,
        parent: Option<(u64, u64)>,
        kind: TrackKind,
    ) -> io::Result<()> {
        self.inner.clear();
        self.inner.number(field::UUID, uuid).bytes_field(field::TRACK_NAME, name.as_bytes());
        if let Some((parent, rank)) = parent {
            self.inner.number(field::PARENT_UUID, parent).number(field::SIBLING_ORDER_RANK, rank);
        }
        match kind {
            TrackKind::Slices => self.inner.number(field::CHILD_ORDERING, ORDER_EXPLICIT),
            TrackKind::Values => self.inner.bytes_field(field::COUNTER, &[]),
        };
        self.packet.clear();
        self.packet.message(field::TRACK_DESCRIPTOR, &self.inner);
        self.give()
    }

    /// Starts the sequence of a track: its clock, and what holds for all of its packets.
    fn sequence(&mut self) -> io::Result<()> {
        let (sequence, uuid) = (self.track, TRACK_UUIDS + self.track);
        let mut snapshot = Message::default();
        for (id, is_incremental) in [(DELTA_CLOCK, 1), (BOOT_CLOCK, 0)] {
            self.inner.clear();
            self.inner.number(field::CLOCK_ID, id).number(field::CLOCK_TIMESTAMP, 0);
            self.inner.number(field::CLOCK_IS_INCREMENTAL, is_incremental);
            snapshot.message(field::CLOCKS, &self.inner);
        }
        self.inner.clear();
        self.inner.number(field::EVENT_TRACK_UUID, uuid);
        let mut defaults = Message::default();
        defaults.number(field::TIMESTAMP_CLOCK_ID, DELTA_CLOCK);
        defaults.message(field::TRACK_EVENT_DEFAULTS, &self.inner);
        self.packet.clear();
        self.packet.number(field::SEQUENCE_ID, sequence).number(field::SEQUENCE_FLAGS, STATE_CLEARED);
        self.packet.message(field::DEFAULTS, &defaults);
        self.give()?;
        self.packet.clear();
        self.packet.number(field::SEQUENCE_ID, sequence).message(field::CLOCK_SNAPSHOT, &snapshot);
        self.last = 0;
        self.give()
    }

    /// Adds the packet to the batch.
    fn give(&mut self) -> io::Result<()> {
        self.batch.message(field::TRACE_PACKET, &self.packet);
        if self.batch.len() >= BATCH_BYTES { self.compress() } else { Ok(()) }
    }

    fn compress(&mut self) -> io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let mut packed = ZlibEncoder::new(Vec::with_capacity(BATCH_BYTES / 4), Compression::fast());
        packed.write_all(self.batch.bytes())?;
        self.batch.clear();
        self.packet.clear();
        self.packet.bytes_field(field::COMPRESSED_PACKETS, &packed.finish()?);
        self.batch.message(field::TRACE_PACKET, &self.packet);
        self.out.write_all(self.batch.bytes())?;
        self.batch.clear();
        Ok(())
    }

    /// Gives the event that was built, at a time that is not before that of the last.
    fn give_event(&mut self, at: u64) -> io::Result<()> {
        self.packet.clear();
        self.packet.number(field::TIMESTAMP, at.saturating_sub(self.last));
        self.packet.number(field::SEQUENCE_ID, self.track).message(field::TRACK_EVENT, &self.event);
        if !self.interned.is_empty() {
            self.packet.message(field::INTERNED_DATA, &self.interned);
            self.interned.clear();
        }
        self.packet.number(field::SEQUENCE_FLAGS, NEEDS_STATE);
        self.last = self.last.max(at);
        self.give()
    }

    /// The number of a name, which is interned if the sequence does not know it.
    fn name(&mut self, name: NameId) -> u64 {
        let (place, number) = (name.0 as usize, u64::from(name.0) + 1);
        if self.named_in[place] != self.track {
            self.named_in[place] = self.track;
            self.inner.clear();
            self.inner.number(field::IID, number).bytes_field(field::NAME, self.names[place].as_bytes());
            self.interned.message(field::EVENT_NAMES, &self.inner);
        }
        number
    }

    fn annotation(&mut self, arg: Arg, value: u64) {
        let number = arg as u64 + 1;
        if self.args_named_in[arg as usize] != self.track {
            self.args_named_in[arg as usize] = self.track;
            self.inner.clear();
            self.inner.number(field::IID, number).bytes_field(field::NAME, arg.name().as_bytes());
            self.interned.message(field::ANNOTATION_NAMES, &self.inner);
        }
        self.inner.clear();
        self.inner.number(field::ANNOTATION_NAME_IID, number);
        match arg {
            Arg::Task => {
                self.task_name.clear();
                // Writing to memory does not fail.
                let _ = write!(self.task_name, "{}", TaskId(value));
                self.inner.bytes_field(field::ANNOTATION_STRING, &self.task_name)
            }
            Arg::Label => {
                let label = self.names[value as usize].as_bytes();
                self.inner.bytes_field(field::ANNOTATION_STRING, label)
            }
            _ => self.inner.number(field::ANNOTATION_UINT, value),
        };
        self.event.message(field::DEBUG_ANNOTATIONS, &self.inner);
    }
}

impl<W: Write> Sink for ProtoSink<'_, W> {
    fn track(&mut self, track: &Track) -> io::Result<()> {
        self.track += 1;
        let (rank, kind) = (u64::from(track.group.order()), track.kind);
        let group = GROUP_UUIDS + rank;
        if self.group != Some(track.group) {
            self.group = Some(track.group);
            self.descriptor(group, &track.family, Some((ROOT_UUID, rank)), TrackKind::Slices)?;
        }
        self.descriptor(TRACK_UUIDS + self.track, &track.name, Some((group, self.track)), kind)?;
        self.sequence()
    }

    fn slice(&mut self, slice: Slice<'_>) -> io::Result<()> {
        let start = self.clock.units(slice.start.0).max(self.last);
        let end = self.clock.units(slice.end.0).max(start);
        let name = self.name(slice.name);
        self.event.clear();
        self.event.number(field::EVENT_TYPE, SLICE_BEGIN).number(field::NAME_IID, name);
        for &(arg, value) in slice.args {
            self.annotation(arg, value);
        }
        for &number in slice.arrows_out {
            self.event.fixed64(field::FLOW_IDS, number);
        }
        for &number in slice.arrows_in {
            self.event.fixed64(field::TERMINATING_FLOW_IDS, number);
        }
        self.give_event(start)?;
        self.event.clear();
        self.event.number(field::EVENT_TYPE, SLICE_END);
        self.give_event(end)
    }

    fn value(&mut self, at: Ticks, value: Value) -> io::Result<()> {
        let at = self.clock.units(at.0);
        self.event.clear();
        self.event.number(field::EVENT_TYPE, COUNTER_EVENT);
        match value {
            Value::Whole(value) => self.event.number(field::COUNTER_VALUE, value),
            Value::Thousandths(value) => self.event.double(field::DOUBLE_COUNTER_VALUE, value as f64 / 1e3),
        };
        self.give_event(at)
    }

    fn finish(mut self) -> io::Result<()> {
        self.compress()
    }
}
