//! What frames refuse, field by field. `tests/any_frames.rs` holds what is true of all of them.

use ringlane_task::{Access, BlobTensor, CallConfig, DType, DfxFlags, Explain, Scalar, TensorView};

use super::*;
use crate::call_error::CallError;
use crate::callable::Digest;
use crate::mailbox::{CallTimes, ChipTimes};

const A: BufferHandle = BufferHandle { id: 1, generation: 0 };
const B: BufferHandle = BufferHandle { id: 2, generation: 5 };

fn tensor(buffer: BufferHandle, access: Access) -> BlobTensor {
    BlobTensor { view: TensorView::contiguous(DType::Float32, &[4]).unwrap(), buffer, access }
}

/// Adds two numbers of `A` into `B`, which stays.
fn call() -> Call<'static> {
    Call {
        sequence: 3,
        digest: Digest([7; 32]),
        config: CallConfig::default().with_seed(9),
        member: (1, 2),
        tensors: vec![tensor(A, Access::Input), tensor(B, Access::Output)],
        scalars: vec![Scalar::new(2.5f32)],
        buffers: vec![
            CallBuffer { handle: A, arrives: Arrival::Value(&[1; 16]), leaves: Leaving::Forgotten },
            CallBuffer { handle: B, arrives: Arrival::Fresh { bytes: 16 }, leaves: Leaving::Kept },
        ],
    }
}

fn encoded(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes).unwrap();
    bytes
}

fn refused(frame: &Frame<'_>) -> FrameError {
    let mut bytes = vec![1];
    let error = frame.encode(&mut bytes).unwrap_err();
    assert!(bytes.is_empty());
    error
}

/// Decodes after one byte was changed.
fn changed(bytes: &[u8], at: usize, byte: u8) -> FrameError {
    let mut bytes = bytes.to_vec();
    assert_ne!(bytes[at], byte);
    bytes[at] = byte;
    Frame::decode(&bytes).unwrap_err()
}

#[test]
fn a_call_arrives_as_it_was_sent_and_names_its_kind() {
    let frame = Frame::Call(call());
    let bytes = encoded(&frame);
    assert_eq!(Frame::decode(&bytes), Ok(frame.clone()));
    assert_eq!((frame.kind(), bytes.len() % 8), ("call", 0));
}

#[test]
fn a_head_that_is_none_names_the_field() {
    let bytes = encoded(&Frame::Shutdown);
    assert_eq!(bytes.len() as u64, MIN_FRAME_BYTES);
    assert!(matches!(changed(&bytes, 0, 0), FrameError::CorruptFrame { field: "magic", .. }));
    assert_eq!(changed(&bytes, 8, 2), FrameError::UnknownFrameVersion { version: 2 });
    assert_eq!(changed(&bytes, 12, 77), FrameError::CorruptFrame { field: "kind", value: 77 });
    assert_eq!(changed(&bytes, 16, 31), FrameError::CorruptFrame { field: "bytes", value: 31 });
    assert!(matches!(changed(&bytes, 16, 33), FrameError::FrameTruncated { need_bytes: 33, .. }));
    assert_eq!(changed(&bytes, 24, 1), FrameError::CorruptFrame { field: "sequence", value: 1 });
}

#[test]
fn a_run_request_of_a_size_that_none_has_is_refused_on_both_sides() {
    let long = vec![0; RUN_REQUEST_BYTES + 1];
    let error = refused(&Frame::SetUp { sequence: 1, run_request: &long });
    assert!(matches!(error, FrameError::FrameTooLarge { field: "bytes of a run request", .. }));
    let bytes = encoded(&Frame::SetUp { sequence: 1, run_request: b"abc" });
    assert!(matches!(
        changed(&bytes, 36, 1),
        FrameError::CorruptFrame { field: "bytes of a run request", .. }
    ));
    assert!(matches!(changed(&bytes, 32, 9), FrameError::FrameTruncated { field: "run request", .. }));
}

#[test]
fn a_frame_with_more_after_it_is_refused() {
    let mut bytes = encoded(&Frame::Shutdown);
    bytes.extend([0; 8]);
    bytes[16] += 8;
    let error = Frame::decode(&bytes).unwrap_err();
    assert_eq!(error, FrameError::CorruptFrame { field: "bytes after the end", value: 8 });
}

#[test]
fn counts_are_refused_before_memory_is_taken_for_them() {
    let bytes = encoded(&Frame::Call(call()));
    for (at, field) in [(32 + 32 + 3, "argument_bytes"), (32 + 36 + 3, "buffers")] {
        let error = changed(&bytes, at, 0xff);
        assert!(
            matches!(error, FrameError::CorruptFrame { field: named, .. } if named == field),
            "{error:?}"
        );
    }
    let bytes = encoded(&Frame::Forget(vec![A, B]));
    let error = changed(&bytes, 35, 0xff);
    assert!(matches!(error, FrameError::CorruptFrame { field: "handles to forget", .. }));
}

#[test]
fn a_tensor_outside_of_its_buffer_or_of_no_buffer_is_refused_on_both_sides() {
    let mut small = call();
    small.buffers[0].arrives = Arrival::Kept { bytes: 15 };
    assert_eq!(refused(&Frame::Call(small)).name(), "ViewOutOfBounds");
    let mut strange = call();
    strange.tensors[0].buffer.generation = 1;
    assert_eq!(
        refused(&Frame::Call(strange)),
        FrameError::CorruptFrame { field: "buffer of a tensor", value: 1 }
    );
    // The first buffer record follows head, body, configuration and blob; its size is at 8.
    let bytes = encoded(&Frame::Call(call()));
    let record = 32 + 48 + 1152 + ringlane_task::blob_bytes(2, 1);
    let error = changed(&bytes, record + 24 + 8, 15);
    assert_eq!(error.name(), "ViewOutOfBounds");
    let error = changed(&bytes, record, 9);
    assert_eq!(error, FrameError::CorruptFrame { field: "buffer of a tensor", value: 1 });
    for (at, field) in
        [(16, "arrival of a buffer"), (17, "leaving of a buffer"), (20, "reserved bytes of a buffer")]
    {
        let error = changed(&bytes, record + at, 9);
        assert!(
            matches!(error, FrameError::CorruptFrame { field: named, .. } if named == field),
            "{error:?}"
        );
    }
}

#[test]
fn two_buffers_with_one_handle_are_refused() {
    let mut twice = call();
    twice.buffers[1].handle = A;
    twice.tensors[1].buffer = A;
    let error = refused(&Frame::Call(twice));
    assert_eq!(error, FrameError::CorruptFrame { field: "handle of two buffers", value: 1 });
}

#[test]
fn buffers_that_no_machine_has_are_refused() {
    let mut large = call();
    large.buffers[1].arrives = Arrival::Fresh { bytes: u64::MAX };
    let error = refused(&Frame::Call(large));
    assert_eq!(error.name(), "FrameTooLarge");
    assert!(error.detail().contains("68719476736"), "{}", error.detail());
}

#[test]
fn a_configuration_that_is_not_valid_is_refused_on_both_sides() {
    let mut wrong = call();
    wrong.config.dfx_flags = DfxFlags::DEPS;
    assert_eq!(refused(&Frame::Call(wrong)).name(), "MissingOutputPrefix");
    let bytes = encoded(&Frame::Call(call()));
    assert_eq!(changed(&bytes, 32 + 48, DfxFlags::DEPS.bits() as u8).name(), "MissingOutputPrefix");
}

#[test]
fn an_error_that_is_too_long_is_cut_at_a_character() {
    let error = CallError::new("é".repeat(100), "x".repeat(3000), "é".repeat(300));
    let result = Err(error);
    let bytes = encoded(&Frame::Answer(Answer { sequence: 1, times: CallTimes::default(), result }));
    let Ok(Frame::Answer(Answer { result: Err(error), .. })) = Frame::decode(&bytes) else {
        panic!("another frame");
    };
    assert_eq!([error.name.len(), error.detail.len(), error.hint.len()], [64, 1024, 512]);
}

#[test]
fn an_answer_that_is_both_good_and_bad_is_refused() {
    let result = Ok(vec![AnswerBuffer { handle: B, outcome: Outcome::Kept { bytes: 16 } }]);
    let bytes = encoded(&Frame::Answer(Answer { sequence: 1, times: CallTimes::default(), result }));
    assert_eq!(changed(&bytes, 32 + 56, 1), FrameError::CorruptFrame { field: "buffers", value: 1 });
    assert_eq!(changed(&bytes, 32 + 56, 2), FrameError::CorruptFrame { field: "status", value: 2 });
    let error = changed(&bytes, 32 + 64, 1);
    assert_eq!(error, FrameError::CorruptFrame { field: "error of a success", value: 1 });
}

#[test]
fn a_level_beyond_the_highest_is_refused_on_both_sides() {
    let hello = Hello {
        build: Digest([1; 32]),
        host: "here",
        process: 1,
        level: 3,
        chips: 2,
        functions: 1,
        clock: HostTime(5),
    };
    assert_eq!(
        changed(&encoded(&Frame::Hello(hello)), 32 + 40, 9),
        FrameError::CorruptFrame { field: "level", value: 9 }
    );
    assert_eq!(refused(&Frame::Hello(Hello { level: 8, ..hello })).name(), "FrameTooLarge");
}

#[test]
fn a_member_beyond_its_group_and_a_chip_without_a_frequency_are_refused_on_both_sides() {
    let mut lonely = call();
    lonely.member = (2, 2);
    assert_eq!(refused(&Frame::Call(lonely)), FrameError::CorruptFrame { field: "member", value: 2 });
    let error = changed(&encoded(&Frame::Call(call())), 32 + 40, 3);
    assert_eq!(error, FrameError::CorruptFrame { field: "member", value: 3 });
    let answer = |chip| {
        let times = CallTimes { chip, ..CallTimes::default() };
        Frame::Answer(Answer { sequence: 1, times, result: Ok(Vec::new()) })
    };
    let error = refused(&answer(Some(ChipTimes::default())));
    assert_eq!(error, FrameError::CorruptFrame { field: "chip_freq_hz", value: 0 });
    let bytes = encoded(&answer(None));
    assert_eq!(changed(&bytes, 32 + 32, 1), FrameError::CorruptFrame { field: "chip_freq_hz", value: 0 });
    assert_eq!(changed(&bytes, 32 + 48, 2), FrameError::CorruptFrame { field: "recorded", value: 2 });
}
