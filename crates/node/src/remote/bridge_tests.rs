//! A node whose workers are ranks, which are threads of this process.

use std::thread;
use std::time::Duration;

use ringlane_engine::prelude::{DType, out, scalar};
use ringlane_task::{CallConfig, Explain};

use super::*;
use crate::callable;
use crate::callable::WorkerKind;
use crate::child::ChildLaunch;
use crate::frame::Call;
use crate::mailbox::ChipTimes;
use crate::memory::{Memories, Memory, SharedBuffers};
use crate::runtime::{CallStatus, Node, NodeOptions, On, WorkerSpec};
use crate::worker_backend::{NoBackend, WorkerBackend};
use crate::{CallError, NodeError};

const PATIENCE: Duration = Duration::from_secs(10);
const ANY: CallConfig = CallConfig::DEFAULT;

callable! {
    /// y = 3x + a; x is read and written
    static THREE = function fn(call; tensors: 1, scalars: [UInt32]) {
        let (x, a) = (call.slice_mut::<u32>(0)?, call.scalar::<u32>(0)?);
        x.iter_mut().for_each(|x| *x = *x * 3 + a);
        Ok(())
    }
}

callable! {
    /// y = x, and who it is among a group
    static COPY = function fn(call; tensors: 2, scalars: []) {
        let (x, member) = (call.slice::<u32>(0)?, call.member());
        call.slice_mut::<u32>(1)?.iter_mut().zip(x).for_each(|(y, x)| *y = x + 100 * member);
        Ok(())
    }
}

callable! {
    static REFUSE = function fn(_call; tensors: 0, scalars: []) {
        Err(CallError::new("NotToday", "it is late", "ask again tomorrow"))
    }
}

callable! {
    /// Ends its rank.
    static DIE = function fn(_call; tensors: 0, scalars: []) { Ok(()) }
}

/// A rank that does not survive `DIE`.
struct Mortal<'e>(CallService<'e>);

impl RankService for Mortal<'_> {
    fn offer(&self) -> Offer {
        self.0.offer()
    }

    fn run(&mut self, call: &Call<'_>, store: &mut Store) -> (Option<ChipTimes>, Result<(), CallError>) {
        assert_ne!(call.digest, DIE.digest().unwrap(), "as a process that is killed");
        self.0.run(call, store)
    }
}

/// Does something with a node that has two ranks as workers for functions; gives how the ranks ended too.
fn over_ranks<R: Send>(work: impl FnOnce(&mut Node) -> R + Send) -> Bridged<R> {
    let [zero, one, two] = LocalRank::all::<3>();
    let serving = [one, two].map(|mut rank| {
        thread::spawn(move || {
            let room = SharedBuffers::new(&Memory::create(1 << 24).unwrap());
            let (offer, mut none) = (Offer { level: 2, chips: 0, functions: 1 }, NoBackend);
            let mut service = Mortal(CallService::new(offer, Some(room), &mut none).unwrap());
            serve(&mut rank, &mut service).map(|_| rank.leave())
        })
    });
    let mut ranks = Ranks::greet(zero, PATIENCE).unwrap();
    let bridged = bridge(&mut ranks, |_| {}, |links| work(&mut node(links).unwrap())).unwrap();
    if bridged.ranks.is_ok() {
        ranks.shutdown(PATIENCE).unwrap();
    }
    drop(ranks);
    serving.into_iter().for_each(|rank| drop(rank.join()));
    bridged
}

fn node(links: &[RankLink]) -> Result<Node, NodeError> {
    let spec = |link| WorkerSpec { kind: WorkerKind::Function, launch: ChildLaunch::on_rank(link) };
    let options = NodeOptions::new(links.iter().map(spec).collect());
    Node::start(&Memories::default(), &CallConfig::default(), &options)
}

#[test]
fn calls_on_ranks_follow_each_other_through_the_tensors_they_touch() {
    let bridged = over_ranks(|node| {
        let mut data = node.buffers();
        let x = data.add(&[3, 2], &[1u32, 2, 3, 4, 5, 6]).unwrap();
        let run = node.run(data.buffers(), |o| {
            let x = o.external(x)?;
            for step in 0..5u32 {
                // A column, which has gaps, and a row.
                o.submit(&THREE, &[x.slice(1, 0, 1)?.inout(), scalar(step)], &ANY, On::Any)?;
                o.submit(&THREE, &[x.slice(0, 1, 1)?.inout(), scalar(step)], &ANY, On::Any)?;
            }
            let copied = o.submit(&COPY, &[x.read(), out(DType::UInt32, [3, 2])], &ANY, On::Any)?.out(0);
            o.read::<u32>(copied)
        });
        assert_eq!(node.journal().calls.len(), 11);
        let is_well = |call: &crate::CallRecord| {
            let order = [call.sent_ns, call.accepted_ns, call.run_ns, call.end_ns, call.done_ns];
            call.status == CallStatus::Ok && order.is_sorted()
        };
        assert!(node.journal().calls.iter().all(is_well), "{:?}", node.journal().calls);
        run.result.unwrap()
    });
    let mut expected = [1u32, 2, 3, 4, 5, 6];
    for step in 0..5 {
        for at in [0, 2, 4, 2, 3] {
            expected[at] = expected[at] * 3 + step;
        }
    }
    assert_eq!((bridged.result, bridged.ranks), (expected.to_vec(), Ok(())));
}

#[test]
fn a_group_on_ranks_has_its_members() {
    let bridged = over_ranks(|node| {
        let mut data = node.buffers();
        let ids = [data.add(&[2], &[1u32, 2]), data.add(&[2], &[0u32, 0])].map(Result::unwrap);
        let run = node.run(data.buffers(), |o| {
            let [x, y] = [o.external(ids[0])?, o.external(ids[1])?];
            o.group(&COPY, 2, &[x.read().split(0), y.write().split(0)], &ANY, On::Any)?;
            o.read::<u32>(y)
        });
        run.result.unwrap()
    });
    assert_eq!(bridged.result, [1, 102]);
}

#[test]
fn a_call_that_fails_on_a_rank_is_reported_and_the_rank_continues() {
    let bridged = over_ranks(|node| {
        let run =
            node.run(node.buffers().buffers(), |o| o.submit(&REFUSE, &[], &ANY, On::Worker(0)).map(drop));
        let detail = run.result.unwrap_err().detail();
        assert!(detail.contains("rank1") && detail.contains("NotToday"), "{detail}");
        let mut data = node.buffers();
        let x = data.add(&[1], &[1u32]).unwrap();
        let run = node.run(data.buffers(), |o| {
            let x = o.external(x)?;
            o.submit(&THREE, &[x.inout(), scalar(1u32)], &ANY, On::Worker(0))?;
            o.read::<u32>(x)
        });
        run.result.unwrap()
    });
    assert_eq!((bridged.result, bridged.ranks), (vec![4], Ok(())));
}

#[test]
fn a_rank_that_dies_is_named_and_is_not_started_again() {
    let bridged = over_ranks(|node| {
        let died = node.run(node.buffers().buffers(), |o| o.submit(&DIE, &[], &ANY, On::Worker(1)).map(drop));
        let later = node.run(node.buffers().buffers(), |o| o.submit(&DIE, &[], &ANY, On::Any).map(drop));
        let statuses: Vec<_> = node.worker_records().iter().map(|worker| worker.restarts).collect();
        assert_eq!(statuses, [0, 0]);
        [died, later].map(|run| run.result.unwrap_err().detail())
    });
    for detail in &bridged.result {
        assert!(detail.contains("RankDied: a rank died: rank 2 (process "), "{detail}");
    }
    assert!(bridged.result[0].contains("during DIE"), "{:?}", bridged.result);
    assert_eq!(bridged.ranks.unwrap_err().name(), "RankDied");
}

/// A rank that has room for tensors only once it is asked for something that it can do.
struct Choosy(Vec<Vec<u8>>);

impl WorkerBackend for Choosy {
    fn set_up(&mut self, run_request: &[u8]) -> Result<Option<SharedBuffers>, CallError> {
        if run_request == b"the impossible" {
            return Err(CallError::new("Impossible", "not here", "ask for less"));
        }
        self.0.push(run_request.to_vec());
        Ok(Some(SharedBuffers::new(&Memory::create(1 << 24).unwrap())))
    }
}

#[test]
fn a_rank_is_set_up_for_each_child_before_its_calls_and_may_refuse() {
    let [zero, mut one] = LocalRank::all::<2>();
    let serving = thread::spawn(move || {
        let (offer, mut choosy) = (Offer { level: 2, chips: 0, functions: 1 }, Choosy(Vec::new()));
        serve(&mut one, &mut CallService::new(offer, None, &mut choosy).unwrap()).unwrap();
        one.leave();
        choosy.0
    });
    let mut ranks = Ranks::greet(zero, PATIENCE).unwrap();
    let work = |links: &[RankLink]| {
        let run = |request: Option<&[u8]>| {
            let launch = ChildLaunch::on_rank(&links[0]);
            let launch = request.map_or(launch.clone(), |bytes| launch.clone().with_run_request(bytes));
            let options = NodeOptions::new(vec![WorkerSpec { kind: WorkerKind::Function, launch }]);
            let mut node = Node::start(&Memories::default(), &CallConfig::default(), &options)?;
            let mut data = node.buffers();
            let x = data.add(&[1], &[7u32]).unwrap();
            let run = node.run(data.buffers(), |o| {
                let x = o.external(x)?;
                o.submit(&THREE, &[x.inout(), scalar(0u32)], &ANY, On::Any)?;
                o.read::<u32>(x)
            });
            node.shutdown(PATIENCE);
            Ok(run.result.map_err(|error| error.detail()))
        };
        assert!(run(None).unwrap().unwrap_err().contains("NotSetUp"));
        let error: NodeError = run(Some(b"the impossible")).unwrap_err();
        assert!(error.name() == "StartFailed" && error.detail().contains("Impossible"), "{}", error.detail());
        for request in [b"one", b"two"] {
            assert_eq!(run(Some(request)).unwrap(), Ok(vec![21]));
        }
        assert_eq!(run(None).unwrap(), Ok(vec![21]), "as it was set up last");
        let error = run(Some(&vec![0; crate::limits::RUN_REQUEST_BYTES + 1])).unwrap_err();
        assert!(error.detail().contains("FrameTooLarge"), "{}", error.detail());
    };
    assert_eq!(bridge(&mut ranks, |_| {}, work).unwrap().ranks, Ok(()));
    ranks.shutdown(PATIENCE).unwrap();
    assert_eq!(serving.join().unwrap(), [b"one", b"two"]);
}

#[test]
fn nodes_have_the_same_ranks_one_after_another_and_never_two_at_once() {
    let [zero, mut one] = LocalRank::all::<2>();
    let serving = thread::spawn(move || {
        let room = SharedBuffers::new(&Memory::create(1 << 24).unwrap());
        let (offer, mut none) = (Offer { level: 2, chips: 0, functions: 1 }, NoBackend);
        let calls = serve(&mut one, &mut CallService::new(offer, Some(room), &mut none).unwrap());
        one.leave();
        calls
    });
    let mut ranks = Ranks::greet(zero, PATIENCE).unwrap();
    let bridged = bridge(
        &mut ranks,
        |_| {},
        |links| {
            for _ in 0..3 {
                let mut first = node(links).unwrap();
                assert_eq!(node(links).map(drop).unwrap_err().name(), "ChildBusy");
                let mut data = first.buffers();
                let x = data.add(&[1], &[7u32]).unwrap();
                let run = first.run(data.buffers(), |o| {
                    let x = o.external(x)?;
                    o.submit(&THREE, &[x.inout(), scalar(0u32)], &ANY, On::Any)?;
                    o.read::<u32>(x)
                });
                assert_eq!(run.result.unwrap(), [21]);
                first.shutdown(PATIENCE);
            }
        },
    );
    assert_eq!(bridged.unwrap().ranks, Ok(()));
    ranks.shutdown(PATIENCE).unwrap();
    assert_eq!(serving.join().unwrap(), Ok(3));
}
