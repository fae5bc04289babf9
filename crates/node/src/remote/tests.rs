//! A scheduler and workers that are threads of this process.

use std::thread;
use std::time::Duration;

use ringlane_task::{Access, BlobTensor, BufferHandle, CallConfig, DType, Explain, Scalar, TensorView};

use super::*;
use crate::call_error::CallError;
use crate::callable::Digest;
use crate::frame::{Answer, AnswerBuffer, Arrival, Call, CallBuffer, Frame, Leaving, Outcome};
use crate::mailbox::{CallTimes, ChipTimes};

const PATIENCE: Duration = Duration::from_secs(10);
const ADD: Digest = Digest([1; 32]);
const FAIL: Digest = Digest([2; 32]);
const DIE: Digest = Digest([3; 32]);
const CHIP: ChipTimes =
    ChipTimes { start_ns: 7, ticks: 8, freq_hz: 9, recorded: crate::mailbox::HasRunDir::Yes };

fn handle(id: u32) -> BufferHandle {
    BufferHandle { id, generation: 0 }
}

/// Adds its scalar to every byte of its first tensor and writes the sums to its second.
struct Adder;

impl RankService for Adder {
    fn offer(&self) -> Offer {
        Offer { level: 3, chips: 2, functions: 1 }
    }

    fn run(&mut self, call: &Call<'_>, store: &mut Store) -> (Option<ChipTimes>, Result<(), CallError>) {
        match call.digest {
            ADD => {}
            DIE => panic!("as a process that is killed"),
            _ => return (None, Err(CallError::new("Wrong", "so it is", "do not ask"))),
        }
        let amount = call.scalars[0].get::<u8>().unwrap();
        let [from, to] = [0, 1].map(|index| call.tensors[index].buffer);
        let sums: Vec<u8> = store.get(from).unwrap().bytes().iter().map(|byte| byte + amount).collect();
        store.get_mut(to).unwrap().bytes_mut().copy_from_slice(&sums);
        (Some(CHIP), Ok(()))
    }
}

/// Runs a scheduler against three workers, and gives what each of these ended with.
fn with_threads(
    schedule: impl FnOnce(&mut Ranks<LocalRank>) -> Result<(), RemoteError>,
) -> Vec<Result<u64, RemoteError>> {
    let [zero, one, two, three] = LocalRank::all::<4>();
    let serving = [one, two, three].map(|mut rank| {
        thread::spawn(move || {
            let ended = serve(&mut rank, &mut Adder);
            rank.leave();
            ended
        })
    });
    let mut ranks = Ranks::greet(zero, PATIENCE).unwrap();
    schedule(&mut ranks).unwrap();
    ranks.shutdown(PATIENCE).unwrap();
    ranks.into_transport().leave();
    serving.map(|thread| thread.join().unwrap()).into()
}

fn add<'a>(digest: Digest, amount: u8, from: CallBuffer<'a>, to: CallBuffer<'a>) -> Request<'a> {
    let bytes = from.arrives.bytes() as u32;
    let view = TensorView::contiguous(DType::UInt8, &[bytes]).unwrap();
    let tensor = |buffer, access| BlobTensor { view, buffer, access };
    Request {
        name: "add",
        digest,
        config: CallConfig::default(),
        member: (0, 1),
        tensors: vec![tensor(from.handle, Access::Input), tensor(to.handle, Access::Output)],
        scalars: vec![Scalar::new(amount)],
        buffers: vec![from, to],
    }
}

fn buffer(id: u32, arrives: Arrival<'_>, leaves: Leaving) -> CallBuffer<'_> {
    CallBuffer { handle: handle(id), arrives, leaves }
}

fn answered(ranks: &mut Ranks<LocalRank>) -> Answered {
    ranks.next(PATIENCE).unwrap().expect("an answer in time")
}

#[test]
fn tensors_travel_by_value_to_every_rank_and_back() {
    let ended = with_threads(|ranks| {
        for rank in 1..4 {
            let from = buffer(1, Arrival::Value(&[1, 2, 3]), Leaving::Forgotten);
            let to = buffer(2, Arrival::Fresh { bytes: 3 }, Leaving::Returned);
            ranks.send(Rank(rank), add(ADD, rank as u8 * 10, from, to))?;
        }
        assert_eq!(ranks.in_flight(), 3);
        for _ in 1..4 {
            let answered = answered(ranks);
            let answer = answered.answer()?;
            let amount = answered.rank.0 as u8 * 10;
            let sums = [1 + amount, 2 + amount, 3 + amount];
            assert_eq!(
                answer.result,
                Ok(vec![AnswerBuffer { handle: handle(2), outcome: Outcome::Value(&sums) }])
            );
            let CallTimes { accepted_ns, run_ns, end_ns, chip } = answer.times;
            assert!(0 < accepted_ns && accepted_ns <= run_ns && run_ns <= end_ns);
            assert_eq!(chip, Some(CHIP));
        }
        Ok(())
    });
    assert_eq!(ended, [Ok(1), Ok(1), Ok(1)]);
}

#[test]
fn a_tensor_stays_where_it_was_made_until_it_is_fetched_and_forgotten() {
    with_threads(|ranks| {
        let from = buffer(1, Arrival::Value(&[1, 2]), Leaving::Forgotten);
        let to = buffer(2, Arrival::Fresh { bytes: 2 }, Leaving::Kept);
        ranks.send(Rank(2), add(ADD, 1, from, to))?;
        let kept = vec![AnswerBuffer { handle: handle(2), outcome: Outcome::Kept { bytes: 2 } }];
        assert_eq!(answered(ranks).answer()?.result, Ok(kept));
        // A second call reads it there; nothing but its name travels.
        let from = buffer(2, Arrival::Kept { bytes: 2 }, Leaving::Kept);
        let to = buffer(3, Arrival::Fresh { bytes: 2 }, Leaving::ReturnedAndKept);
        ranks.send(Rank(2), add(ADD, 5, from, to))?;
        let answer = answered(ranks);
        let result = answer.answer()?.result.unwrap();
        assert_eq!(result[1].outcome, Outcome::ValueAndKept(&[7, 8]));
        ranks.fetch(Rank(2), handle(2))?;
        let answer = answered(ranks);
        assert_eq!(answer.answer()?.result.unwrap()[0].outcome, Outcome::ValueAndKept(&[2, 3]));
        ranks.forget(Rank(2), &[handle(2)])?;
        ranks.fetch(Rank(2), handle(2))?;
        assert_eq!(answered(ranks).answer()?.result.unwrap_err().name, "UnknownHandle");
        Ok(())
    });
}

#[test]
fn a_call_that_fails_answers_with_its_error_and_leaves_nothing_in_flight() {
    with_threads(|ranks| {
        let fresh = |id| buffer(id, Arrival::Fresh { bytes: 4 }, Leaving::Kept);
        ranks.send(Rank(1), add(FAIL, 1, fresh(1), fresh(2)))?;
        assert_eq!(answered(ranks).answer()?.result.unwrap_err().name, "Wrong");
        ranks.fetch(Rank(1), handle(1))?;
        assert_eq!(answered(ranks).answer()?.result.unwrap_err().name, "UnknownHandle");
        // A handle that is not there, of another size, or there already, is the call's error.
        ranks.send(Rank(1), add(ADD, 1, fresh(1), buffer(2, Arrival::Kept { bytes: 4 }, Leaving::Kept)))?;
        assert_eq!(answered(ranks).answer()?.result.unwrap_err().name, "UnknownHandle");
        ranks.send(Rank(1), add(ADD, 1, fresh(1), fresh(2)))?;
        assert!(answered(ranks).answer()?.result.is_ok());
        ranks.send(Rank(1), add(ADD, 1, fresh(3), fresh(2)))?;
        let error = answered(ranks).answer()?.result.unwrap_err();
        assert!(error.detail.contains("here already"), "{error}");
        // What was kept before a call that failed is still there.
        let kept = |id| buffer(id, Arrival::Kept { bytes: 4 }, Leaving::Forgotten);
        ranks.send(Rank(1), add(FAIL, 1, kept(1), kept(2)))?;
        assert_eq!(answered(ranks).answer()?.result.unwrap_err().name, "Wrong");
        ranks.fetch(Rank(1), handle(2))?;
        assert!(answered(ranks).answer()?.result.is_ok());
        Ok(())
    });
}

#[test]
fn a_rank_introduces_itself_and_its_clock_is_measured() {
    with_threads(|ranks| {
        let process = std::process::id();
        for (peer, rank) in ranks.peers().iter().zip(1..) {
            assert_eq!((peer.rank, peer.process, peer.level, peer.chips), (Rank(rank), process, 3, 2));
            // Threads of one process have one clock.
            assert!(peer.clock.offset_ns == 0 && peer.clock.error_ns.is_some(), "{:?}", peer.clock);
        }
        Ok(())
    });
}

#[test]
fn a_rank_that_dies_during_a_call_is_named_with_the_call() {
    let [zero, mut one, mut two] = LocalRank::all::<3>();
    thread::spawn(move || serve(&mut one, &mut Adder));
    let dying = thread::spawn(move || serve(&mut two, &mut Adder).is_ok());
    let mut ranks = Ranks::greet(zero, PATIENCE).unwrap();
    let fresh = |id| buffer(id, Arrival::Fresh { bytes: 4 }, Leaving::Kept);
    ranks.send(Rank(2), add(DIE, 1, fresh(1), fresh(2))).unwrap();
    let error = ranks.next(PATIENCE).unwrap_err();
    assert_eq!(error.name(), "RankDied");
    assert!(error.detail().contains("rank 2 (process"), "{}", error.detail());
    assert!(error.detail().ends_with("during add"), "{}", error.detail());
    assert!(dying.join().is_err());
}

#[test]
fn a_rank_that_never_says_hello_is_named() {
    let [zero, mut one, _two] = LocalRank::all::<3>();
    thread::spawn(move || serve(&mut one, &mut Adder));
    let error = Ranks::greet(zero, Duration::from_millis(50)).err().unwrap();
    assert!(matches!(error, RemoteError::RankSilent { rank: Rank(2), .. }), "{error:?}");
}

#[test]
fn a_rank_of_another_build_is_refused() {
    let [zero, mut one] = LocalRank::all::<2>();
    let (build, clock) = (Digest([0; 32]), Default::default());
    let hello =
        crate::frame::Hello { build, host: "far", process: 9, level: 3, chips: 1, functions: 1, clock };
    let mut bytes = Vec::new();
    Frame::Hello(hello).encode(&mut bytes).unwrap();
    one.send(Rank(0), bytes).unwrap();
    let error = Ranks::greet(zero, PATIENCE).err().unwrap();
    assert_eq!(error.name(), "UnlikeBuilds");
    assert!(error.detail().contains("process 9 on far"), "{}", error.detail());
}

#[test]
fn bytes_that_are_no_frame_end_a_worker_with_its_captured_output_and_a_scheduler_with_an_error() {
    let [mut zero, mut one] = LocalRank::all::<2>();
    let serving = thread::spawn(move || serve(&mut one, &mut Adder));
    zero.receive(PATIENCE).unwrap().expect("hello");
    zero.send(Rank(1), vec![0; 40]).unwrap();
    let (_, bytes) = zero.receive(PATIENCE).unwrap().expect("goodbye");
    let Ok(Frame::Goodbye(goodbye)) = Frame::decode(&bytes) else { panic!("another frame") };
    assert_eq!(goodbye.error.unwrap().name, "CorruptFrame");
    assert_eq!(serving.join().unwrap().unwrap_err().name(), "CorruptFrame");
}

#[test]
fn an_answer_that_does_not_fit_its_call_is_refused() {
    let [zero, mut one] = LocalRank::all::<2>();
    let bad_peer = thread::spawn(move || {
        let mut bytes = Vec::new();
        let build = crate::callable::this_build().unwrap();
        let clock = crate::frame::HostTime::now();
        let hello =
            crate::frame::Hello { build, host: "h", process: 1, level: 3, chips: 1, functions: 1, clock };
        Frame::Hello(hello).encode(&mut bytes).unwrap();
        one.send(Rank(0), bytes).unwrap();
        loop {
            let (_, bytes) = one.receive(PATIENCE).unwrap().expect("a frame");
            let mut out = Vec::new();
            let frame = match Frame::decode(&bytes).unwrap() {
                Frame::Ping { sequence, sent } => Frame::Pong { sequence, sent, echoed: sent },
                frame => {
                    let buffer = AnswerBuffer { handle: handle(2), outcome: Outcome::Value(&[1]) };
                    let (sequence, times) = (frame.sequence(), CallTimes::default());
                    Frame::Answer(Answer { sequence, times, result: Ok(vec![buffer]) })
                        .encode(&mut out)
                        .unwrap();
                    one.send(Rank(0), out).unwrap();
                    return one;
                }
            };
            frame.encode(&mut out).unwrap();
            one.send(Rank(0), out).unwrap();
        }
    });
    let mut ranks = Ranks::greet(zero, PATIENCE).unwrap();
    let fresh = |id, leaves| buffer(id, Arrival::Fresh { bytes: 4 }, leaves);
    let call = add(ADD, 1, fresh(1, Leaving::Forgotten), fresh(2, Leaving::Returned));
    ranks.send(Rank(1), call).unwrap();
    assert_eq!(ranks.next(PATIENCE).unwrap_err().name(), "WrongAnswer");
    bad_peer.join().unwrap();
}
