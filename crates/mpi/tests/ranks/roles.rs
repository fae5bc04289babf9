//! The roles of the ranks.

use std::process::ExitCode;
use std::time::Duration;

use ringlane_mpi::Mpi;
use ringlane_node::frame::{Arrival, Call, CallBuffer, Leaving};
use ringlane_node::remote::{Offer, Rank, RankService, Ranks, RemoteError, Request, Store, Transport, serve};
use ringlane_node::task::{Access, BlobTensor, BufferHandle, CallConfig, DType, Explain, Scalar, TensorView};
use ringlane_node::{CallError, ChipTimes, Digest};

const PATIENCE: Duration = Duration::from_secs(20);
const DOUBLE: Digest = Digest([1; 32]);
const HANG: Digest = Digest([2; 32]);

pub fn play(role: &str) -> ExitCode {
    let mpi = Mpi::init().expect("MPI");
    println!("rank {} is process {}", mpi.rank().0, std::process::id());
    let rank = mpi.rank();
    let played = match (role, rank) {
        ("exchange", _) => exchange(mpi),
        ("calls", Rank::SCHEDULER) => calls(mpi),
        ("hang", Rank::SCHEDULER) => hang(mpi),
        ("deaf", Rank::SCHEDULER) => deaf(mpi),
        ("deaf", Rank(2)) => work(mpi, Doubler { is_deaf: true }),
        _ => work(mpi, Doubler { is_deaf: false }),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if rank == Rank::SCHEDULER {
                // In one write: mpirun prints at the same time.
                let line = format!("error: {}: {}\n", error.name(), error.detail());
                let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
                ringlane_mpi::wait_until_stderr_is_read();
            }
            ExitCode::FAILURE
        }
    }
}

/// Every rank sends to every other at once, also more than MPI buffers without a receiver; frames arrive in order.
fn exchange(mut mpi: Mpi) -> Result<(), RemoteError> {
    const SIZES: [usize; 6] = [0, 1, 4096, 65_537, 5_000_000, 7];
    let (me, ranks) = (mpi.rank(), mpi.ranks());
    let others = || (0..ranks).filter(|&rank| rank != me.0);
    for bytes in SIZES {
        others().for_each(|to| mpi.send(Rank(to), vec![me.0 as u8; bytes]).expect("sent"));
    }
    let mut received = vec![0; ranks as usize];
    while others().any(|from| received[from as usize] < SIZES.len()) {
        let (from, frame) = mpi.receive(PATIENCE).expect("received").expect("in time");
        assert!(frame.iter().all(|&byte| byte == from.0 as u8));
        let count = &mut received[from.0 as usize];
        assert_eq!(frame.len(), SIZES[*count], "frame {count} of {from}");
        *count += 1;
    }
    println!("all exchanged");
    mpi.finish();
    Ok(())
}

/// Doubles every byte of its buffer, or never returns.
struct Doubler {
    is_deaf: bool,
}

impl RankService for Doubler {
    fn offer(&self) -> Offer {
        Offer { level: 3, chips: 1, functions: 1 }
    }

    fn run(&mut self, call: &Call<'_>, store: &mut Store) -> (Option<ChipTimes>, Result<(), CallError>) {
        if call.digest == HANG || self.is_deaf {
            std::thread::sleep(Duration::from_secs(600));
        }
        let buffer = store.get_mut(call.tensors[0].buffer).expect("it was placed");
        buffer.bytes_mut().iter_mut().for_each(|byte| *byte = byte.wrapping_mul(2));
        (None, Ok(()))
    }
}

fn work(mut mpi: Mpi, mut service: Doubler) -> Result<(), RemoteError> {
    serve(&mut mpi, &mut service)?;
    mpi.finish();
    Ok(())
}

fn request<'a>(digest: Digest, id: u32, value: &'a [u8]) -> Request<'a> {
    let handle = BufferHandle { id, generation: 0 };
    let view = TensorView::contiguous(DType::UInt8, &[value.len() as u32]).expect("a view");
    Request {
        name: "in a call",
        digest,
        config: CallConfig::default(),
        member: (0, 1),
        tensors: vec![BlobTensor { view, buffer: handle, access: Access::InOut }],
        scalars: vec![Scalar::new(1u8)],
        buffers: vec![CallBuffer { handle, arrives: Arrival::Value(value), leaves: Leaving::Returned }],
    }
}

/// Twenty calls to each rank, small and large, one at a time per rank.
fn calls(mpi: Mpi) -> Result<(), RemoteError> {
    let mut ranks = Ranks::greet(mpi, PATIENCE)?;
    let (mut answers, peers) = (0, ranks.peers().len());
    for round in 0..20 {
        let value = vec![round as u8; if round % 5 == 0 { 1_000_000 } else { 100 }];
        for rank in 1..=peers as u32 {
            ranks.send(Rank(rank), request(DOUBLE, 1, &value))?;
        }
        while ranks.in_flight() > 0 {
            let answered = ranks.next(PATIENCE)?.ok_or_else(|| ranks.silent(Rank(1), "a call", PATIENCE))?;
            let answer = answered.answer()?;
            let buffers = answer.result.expect("a successful call");
            let doubled = vec![round as u8 * 2; value.len()];
            assert_eq!(buffers[0].outcome.value(), Some(doubled.as_slice()));
            answers += 1;
        }
    }
    println!("{answers} answers from {peers} ranks");
    ranks.shutdown(PATIENCE)?;
    ranks.into_transport().finish();
    Ok(())
}

/// Waits for calls that do not end.
fn hang(mpi: Mpi) -> Result<(), RemoteError> {
    let mut ranks = Ranks::greet(mpi, PATIENCE)?;
    for rank in 1..=ranks.peers().len() as u32 {
        ranks.send(Rank(rank), request(HANG, 1, &[1]))?;
    }
    println!("all are busy");
    loop {
        ranks.next(PATIENCE)?;
    }
}

/// Sends to a rank that does not receive.
fn deaf(mpi: Mpi) -> Result<(), RemoteError> {
    let mut ranks = Ranks::greet(mpi, PATIENCE)?;
    let large = vec![0; 50_000_000];
    ranks.send(Rank(2), request(DOUBLE, 1, &large))?;
    println!("all are busy");
    // The rank has received the first frame, and runs it.
    ranks.send(Rank(2), request(DOUBLE, 1, &large))?;
    unreachable!("the frame was received");
}
