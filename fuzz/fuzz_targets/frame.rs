//! Random bytes as a frame from another host: refused with a name, or a frame that encodes to the same bytes again.
//!
//! ```text
//! input: [kind] then …   even kind: the bytes are the frame from its start on
//!                        odd kind:  kind / 2 picks a good frame; patches of it, [u16 place][u8 count][bytes], a patch of no
//!                                   bytes cuts the frame there and mends the length in its head
//! ```
//! Most random bytes are refused at the first field. Patches of good frames reach those after it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ringlane_node::frame::{
    Answer, AnswerBuffer, Arrival, Call, CallBuffer, Frame, Goodbye, Hello, HostTime, Leaving, Outcome,
};
use ringlane_node::task::{Access, BlobTensor, BufferHandle, CallConfig, DType, Explain, Scalar, TensorView};
use ringlane_node::{CallError, CallTimes, ChipTimes, Digest, Recorded};

fn handle(id: u32) -> BufferHandle {
    BufferHandle { id, generation: 1 }
}

fn call() -> Frame<'static> {
    let view = TensorView::contiguous(DType::Float32, &[2, 4]).expect("a view");
    let tensor = |id, access| BlobTensor { view, buffer: handle(id), access };
    let buffer = |id, arrives, leaves| CallBuffer { handle: handle(id), arrives, leaves };
    let mut config = CallConfig::default().with_seed(5);
    config.set_output_prefix("outputs/here").expect("a short path");
    Frame::Call(Call {
        sequence: 1,
        digest: Digest([9; 32]),
        config,
        member: (0, 1),
        tensors: vec![tensor(1, Access::Input), tensor(2, Access::InOut), tensor(3, Access::Output)],
        scalars: vec![Scalar::new(1.5f32), Scalar::new(7u64)],
        buffers: vec![
            buffer(1, Arrival::Value(&[3; 33]), Leaving::Forgotten),
            buffer(2, Arrival::Kept { bytes: 32 }, Leaving::ReturnedAndKept),
            buffer(3, Arrival::Fresh { bytes: 64 }, Leaving::Kept),
        ],
    })
}

/// A frame of every kind.
static GOOD: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let error = CallError::new("Name", "détail", "hint");
    let chip = ChipTimes { start_ns: 4, ticks: 5, freq_hz: 6, recorded: Recorded::Yes };
    let (times, sent) = (CallTimes { chip: Some(chip), ..CallTimes::default() }, HostTime(5));
    let outcomes = [Outcome::Value(&[1; 9]), Outcome::Kept { bytes: 8 }, Outcome::ValueAndKept(&[2; 8])];
    let buffers = (1..).zip(outcomes).map(|(id, outcome)| AnswerBuffer { handle: handle(id), outcome });
    let build = Digest([9; 32]);
    let frames = [
        Frame::Hello(Hello { build, host: "höst", process: 4, level: 3, chips: 2, functions: 1, clock: sent }),
        call(),
        Frame::Answer(Answer { sequence: 1, times, result: Ok(buffers.collect()) }),
        Frame::Answer(Answer { sequence: 1, times, result: Err(error.clone()) }),
        Frame::SetUp { sequence: 1, run_request: b"asked for" },
        Frame::Fetch { sequence: 1, handle: handle(1) },
        Frame::Forget(vec![handle(1), handle(2)]),
        Frame::Ping { sequence: 1, sent },
        Frame::Pong { sequence: 1, sent, echoed: sent },
        Frame::Shutdown,
        Frame::Goodbye(Goodbye { calls: 1, error: Some(error) }),
    ];
    frames.iter().map(encoded).collect()
});

fn encoded(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes).expect("it is a good one");
    bytes
}

fn patched(kind: u8, mut data: &[u8]) -> Vec<u8> {
    let mut bytes = GOOD[usize::from(kind / 2) % GOOD.len()].clone();
    while let [low, high, count, rest @ ..] = data {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % (bytes.len() + 1);
        let count = usize::from(*count).min(rest.len()).min(bytes.len() - at);
        bytes[at..at + count].copy_from_slice(&rest[..count]);
        if count == 0 && at >= 32 {
            bytes.truncate(at);
            bytes[16..24].copy_from_slice(&(at as u64).to_le_bytes());
        }
        data = &rest[count..];
    }
    bytes
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, data)) = data.split_first() else { return };
    let bytes = if kind % 2 == 0 { data.to_vec() } else { patched(*kind, data) };
    match Frame::decode(&bytes) {
        Ok(frame) => assert_eq!(encoded(&frame), bytes),
        Err(error) => {
            assert!(!error.name().is_empty() && !error.detail().is_empty() && !error.hint().is_empty());
        }
    }
});
