//! Frames of all kinds: they arrive as they were sent, and bytes that nobody meant are refused or give something valid.

use proptest::collection::vec;
use proptest::prelude::*;
use ringlane_node::frame::{
    Answer, AnswerBuffer, Arrival, Call, CallBuffer, Frame, FrameError, Goodbye, Hello, HostTime, Leaving,
    Outcome,
};
use ringlane_node::task::{Access, BlobTensor, BufferHandle, CallConfig, DType, Explain, Scalar, TensorView};
use ringlane_node::{CallError, CallTimes, ChipTimes, Digest, HasRunDir};

/// What a frame borrows.
fn values() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(any::<u8>(), 4..40), 0..6)
}

fn scalars() -> impl Strategy<Value = Vec<Scalar>> {
    vec(prop_oneof![any::<u64>().prop_map(Scalar::new), any::<f32>().prop_map(Scalar::new)], 0..5)
}

fn error() -> impl Strategy<Value = CallError> {
    ("\\PC{0,16}", "\\PC{0,99}", "\\PC{0,60}").prop_map(|(name, detail, hint)| CallError {
        name,
        detail,
        hint,
    })
}

fn handle(id: usize, generation: u32) -> BufferHandle {
    BufferHandle { id: id as u32, generation }
}

/// A call with one tensor for each buffer, which shows some of its bytes.
fn call<'f>(sequence: u64, values: &'f [Vec<u8>], codes: &[u8], scalars: Vec<Scalar>) -> Frame<'f> {
    let code = |index: usize| codes[index % codes.len()];
    let buffers = values.iter().enumerate().map(|(index, value)| {
        let bytes = value.len() as u64;
        let arrives = [Arrival::Fresh { bytes }, Arrival::Value(value), Arrival::Kept { bytes }];
        let leaves = Leaving::ALL[usize::from(code(index) / 3 % 4)];
        CallBuffer { handle: handle(index, 9), arrives: arrives[usize::from(code(index) % 3)], leaves }
    });
    let tensors = values.iter().enumerate().map(|(index, value)| {
        let view = TensorView::contiguous(DType::UInt8, &[value.len() as u32]).unwrap();
        let view = view.tile(&[1], &[value.len() as u32 - 2]).unwrap();
        BlobTensor { view, buffer: handle(index, 9), access: Access::ALL[usize::from(code(index) % 5)] }
    });
    let mut config = CallConfig::default().with_seed(sequence).with_threads(2);
    config.set_output_prefix("outputs/here").unwrap();
    let (tensors, buffers) = (tensors.collect(), buffers.collect());
    let (digest, member) = (Digest([codes[0]; 32]), (codes[0].into(), 256));
    Frame::Call(Call { sequence, digest, config, member, tensors, scalars, buffers })
}

fn answer<'f>(sequence: u64, values: &'f [Vec<u8>], codes: &[u8]) -> Frame<'f> {
    let buffers = values.iter().enumerate().map(|(index, value)| {
        let bytes = value.len() as u64;
        let outcomes = [Outcome::Value(value), Outcome::Kept { bytes }, Outcome::ValueAndKept(value)];
        let outcome = outcomes[usize::from(codes[index % codes.len()] % 3)];
        AnswerBuffer { handle: handle(index, 1), outcome }
    });
    let recorded = if codes[0].is_multiple_of(2) { HasRunDir::Yes } else { HasRunDir::No };
    let chip = ChipTimes { start_ns: 4, ticks: sequence, freq_hz: 6, recorded };
    let chip = (!codes[0].is_multiple_of(3)).then_some(chip);
    let times = CallTimes { accepted_ns: 1, run_ns: 2, end_ns: 3, chip };
    Frame::Answer(Answer { sequence, times, result: Ok(buffers.collect()) })
}

/// One frame of each kind.
fn frames<'f>(
    sequence: u64,
    values: &'f [Vec<u8>],
    codes: &[u8],
    scalars: Vec<Scalar>,
    error: CallError,
    host: &'f str,
) -> Vec<Frame<'f>> {
    let times = CallTimes::default();
    let hello = Hello {
        build: Digest([codes[0]; 32]),
        host,
        process: 7,
        level: 3,
        chips: 2,
        functions: 1,
        clock: HostTime(sequence),
    };
    let (sent, echoed) = (HostTime(sequence), HostTime(!sequence));
    vec![
        Frame::Hello(hello),
        call(sequence, values, codes, scalars),
        answer(sequence, values, codes),
        Frame::Answer(Answer { sequence, times, result: Err(error.clone()) }),
        Frame::SetUp { sequence, run_request: host.as_bytes() },
        Frame::Fetch { sequence, handle: handle(5, 6) },
        Frame::Forget(codes.iter().map(|&code| handle(code.into(), 0)).collect()),
        Frame::Ping { sequence, sent },
        Frame::Pong { sequence, sent, echoed },
        Frame::Shutdown,
        Frame::Goodbye(Goodbye { calls: sequence, error: None }),
        Frame::Goodbye(Goodbye { calls: sequence, error: Some(error) }),
    ]
}

fn encoded(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes).unwrap();
    bytes
}

/// What is accepted has one encoding; what is refused says why.
fn check(bytes: &[u8]) -> Result<(), FrameError> {
    match Frame::decode(bytes) {
        Ok(frame) => {
            assert_eq!(encoded(&frame), bytes, "{frame:?}");
            Ok(())
        }
        Err(error) => {
            assert!(!error.name().is_empty() && !error.detail().is_empty() && !error.hint().is_empty());
            Err(error)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_frame_arrives_as_it_was_sent(
        sequence: u64, values in values(), codes in vec(any::<u8>(), 1..8), scalars in scalars(),
        error in error(), host in "\\PC{0,40}",
    ) {
        for frame in frames(sequence, &values, &codes, scalars, error, &host) {
            let bytes = encoded(&frame);
            prop_assert_eq!(Frame::decode(&bytes), Ok(frame));
        }
    }

    #[test]
    fn a_frame_that_is_cut_short_anywhere_is_refused(
        values in values(), codes in vec(any::<u8>(), 1..8), scalars in scalars(), error in error(),
    ) {
        for frame in frames(3, &values, &codes, scalars, error, "host") {
            let bytes = encoded(&frame);
            for end in 0..bytes.len() {
                let is_cut = matches!(check(&bytes[..end]), Err(FrameError::FrameTruncated { .. }));
                prop_assert!(is_cut, "{} of {} bytes", end, bytes.len());
                // The same with a head that states the true length.
                if end >= 32 {
                    let mut honest = bytes[..end].to_vec();
                    honest[16..24].copy_from_slice(&(end as u64).to_le_bytes());
                    prop_assert!(check(&honest).is_err(), "{} of {} bytes of {}", end, bytes.len(), frame.kind());
                }
            }
        }
    }

    #[test]
    fn flipped_bits_are_refused_with_a_name_or_give_another_valid_frame(
        values in values(), codes in vec(any::<u8>(), 1..8), scalars in scalars(), error in error(),
        flips in vec((any::<prop::sample::Index>(), 0u8..8), 1..5),
    ) {
        for frame in frames(3, &values, &codes, scalars, error, "host") {
            let mut bytes = encoded(&frame);
            for (at, bit) in &flips {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            let _ = check(&bytes);
        }
    }

    #[test]
    fn any_bytes_after_a_good_head_are_refused_with_a_name_or_a_valid_frame(
        kind in 0u32..11, sequence in 0u64..2, body in vec(any::<u8>(), 0..400),
    ) {
        let mut bytes = encoded(&Frame::Shutdown);
        bytes.extend(&body);
        let length = bytes.len() as u64;
        bytes[12..16].copy_from_slice(&kind.to_le_bytes());
        bytes[16..24].copy_from_slice(&length.to_le_bytes());
        bytes[24..32].copy_from_slice(&sequence.to_le_bytes());
        let _ = check(&bytes);
    }

    #[test]
    fn any_bytes_at_all_are_refused(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(check(&bytes).is_err());
    }
}
