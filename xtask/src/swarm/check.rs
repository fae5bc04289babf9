//! Runs a program on the oracle and on the engine, and says what differs.
//!
//! ```text
//! oracle ──▶ needs ──▶ capacities ─┬─▶ engine ──▶ equal? ──▶ after an error: the same runtime once more
//!                                  └──── hint ◀── FlowControlDeadlock, TaskTooLarge
//! ```
//! Compared are the bytes of every buffer, which tasks ran, how many failed and were skipped, every value read back,
//! every refusal, the error's name and, if a task failed, which one was first. A deadlock must be one (the program
//! needs more than there is), its hint must help, and no deadlock must be missed.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use ringlane::{Platform, Runtime};
use ringlane_chip_cpu::CpuRuntime;
use ringlane_engine::api::kernel::{CudaBody, Registered};
use ringlane_engine::fault::TaskFailure;
use ringlane_engine::oracle::Fate;
use ringlane_engine::prelude::*;
use ringlane_engine::report::RunReport;
use ringlane_task::{RINGS, Resource};
use toy_chip::ToyRuntime;

use super::capacity::{self, Attempt, DEVICE_ROOMY, ROOMY};
use super::ledger::Needs;
use super::outcome::{Engine, OnDevice, Outcome, Verdict, on_engine, on_oracle};
use super::program::{Capacity, Program, Rings};
use super::{captured, modelled, record};

/// Reruns with raised capacities before a program is given up as one that hints do not help.
const RERUNS_MAX: usize = 40;

/// Why a program failed the check: one line, then details.
pub(crate) type Failure = String;

/// The list of what ran is one for the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// From here on, and until it is dropped, nobody else runs programs; what is planned to panic does so silently.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    hush();
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks a program.
pub(crate) fn check(program: &Program) -> Result<(), Failure> {
    let _alone = alone();
    let expected = on_oracle(program, &BTreeSet::new());
    let first = match &program.rings {
        Rings::Roomy => ROOMY,
        Rings::Fitted => expected.0.needs.fitted(),
        Rings::Tiny(capacity) => *capacity,
    };
    let last = settle(program, &expected, first, |rings| {
        CpuRuntime::new(&capacity::config(rings, program.threads)).map_err(|error| format!("{error:?}"))
    })?;
    // In memory that the host cannot see: what goes around the seam faults.
    let toy =
        |rings: &Capacity| ToyRuntime::new(&capacity::config(rings, 1)).map_err(|error| format!("{error:?}"));
    settle(program, &expected, first, toy).map_err(|failure| format!("on the toy chip: {failure}"))?;
    captured::check(program, &expected).map_err(|failure| format!("captured: {failure}"))?;
    record::check(program, &expected, [first, last]).map_err(|failure| format!("recorded: {failure}"))?;
    modelled::check(program, &expected, first).map_err(|failure| format!("modelled: {failure}"))
}

/// Checks a program on a device, streamed and captured. Its runtime with default rings runs the captured graphs of all
/// programs.
pub(crate) fn check_device(
    program: &Program,
    platform: Platform,
    graphs: &mut OnDevice,
) -> Result<(), Failure> {
    let _alone = alone();
    let expected = on_oracle(program, &BTreeSet::new());
    let first = match &program.rings {
        Rings::Roomy => DEVICE_ROOMY,
        Rings::Fitted => expected.0.needs.fitted(),
        Rings::Tiny(capacity) => *capacity,
    };
    settle(program, &expected, first, |rings| {
        let made = Runtime::on(platform).with(&capacity::config(rings, 0));
        made.map(OnDevice).map_err(|error| format!("{error:?}"))
    })?;
    captured::check_device(graphs, program, &expected).map_err(|failure| format!("captured: {failure}"))
}

/// Runs a program, with larger rings as hints say, until it ends as it should; gives the rings that suffice.
pub(super) fn settle<E: Engine>(
    program: &Program,
    expected: &(Outcome, Vec<Fate>),
    first: Capacity,
    make: impl Fn(&Capacity) -> Result<E, Failure>,
) -> Result<Capacity, Failure> {
    let needs = expected.0.needs;
    let mut now = first;
    let mut attempts: Vec<Attempt> = Vec::new();
    loop {
        let mut runtime = make(&now).map_err(|error| format!("the runtime did not start: {error}"))?;
        interrupted(&mut runtime, program)?;
        let (got, report) = on_engine(&mut runtime, program, None);
        if let Verdict::Failed(error) = &got.verdict
            && let Some(attempt) = Attempt::of(error, &got)
        {
            judge(program, &needs, &now, &attempt, &attempts)?;
            probe(&mut runtime)?;
            now = capacity::raised(&now, &attempt)?;
            attempts.push(attempt);
            if attempts.len() > RERUNS_MAX {
                return Err(format!("{RERUNS_MAX} hints did not help: {attempts:#?}"));
            }
            continue;
        }
        let after = |failure| format!("{failure}\nrings {now:?}, after {attempts:?}");
        compare(program, expected, &got, report.as_ref()).map_err(after)?;
        missed(&needs, &now, &got).map_err(after)?;
        if program.twice || !matches!(got.verdict, Verdict::Done) {
            let after = |failure| format!("in the next run on the same runtime: {failure}");
            again(program, expected, &mut runtime).map_err(after)?;
        }
        return Ok(now);
    }
}

/// Kernels and orchestrations that panic on purpose do so silently.
fn hush() {
    static HUSHED: Once = Once::new();
    HUSHED.call_once(|| {
        let shout = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload_as_str().is_some_and(|text| text.starts_with("planned")) {
                shout(info);
            }
        }));
    });
}

/// Interrupts a first run from inside, if the program is one of those.
fn interrupted(runtime: &mut impl Engine, program: &Program) -> Result<(), Failure> {
    let Some(at) = program.interrupt_at else { return Ok(()) };
    let (got, _) = on_engine(runtime, program, Some(at));
    ended_early(at, &got)
}

/// Whether a run that was interrupted at submit `at` ended as such a run may.
pub(super) fn ended_early(at: u32, got: &Outcome) -> Result<(), Failure> {
    match &got.verdict {
        _ if got.attempts <= at => Ok(()),
        Verdict::Panicked(_) => Ok(()),
        Verdict::Failed(error)
            if ["Interrupted", "FlowControlDeadlock", "TaskTooLarge"].contains(&error.name()) =>
        {
            Ok(())
        }
        other => Err(format!("interrupted at submit {at}, the run ended with {other:?}")),
    }
}

/// Whether the rings have what the program needs of the resource that was refused.
fn suffices(needs: &Needs, now: &Capacity, attempt: &Attempt) -> bool {
    let ring = attempt.ring;
    match attempt.resource {
        Resource::TaskWindow => needs.window[ring] <= now.window[ring] as u64,
        Resource::Heap => needs.heap[ring] + 8 * needs.heap_piece <= now.heap[ring],
        Resource::Args => needs.args[ring] + 8 * needs.args_piece <= now.args[ring] as u64,
        Resource::TensorMap => needs.entries <= now.tensormap as u64,
        Resource::DepPool => true,
    }
}

/// Whether a refusal is one: the program really needs more, and the hint before it was followed.
fn judge(
    program: &Program,
    needs: &Needs,
    now: &Capacity,
    attempt: &Attempt,
    before: &[Attempt],
) -> Result<(), Failure> {
    let wrong =
        |what: &str| Err(format!("{what}: {attempt:#?}\nneeds {needs:?}\nrings {now:?}\nafter {before:#?}"));
    let fitted = matches!(program.rings, Rings::Fitted) && attempt.resource != Resource::DepPool;
    // A bulky program can be too much even for roomy rings.
    let roomy = matches!(program.rings, Rings::Roomy) && suffices(needs, now, attempt);
    if fitted || roomy {
        return wrong("refused although the rings suffice");
    }
    if attempt.need <= attempt.capacity {
        return wrong("refused although the need does not exceed the capacity");
    }
    let enough = match attempt.resource {
        Resource::TaskWindow => needs.window[attempt.ring] <= now.window[attempt.ring] as u64,
        Resource::TensorMap => needs.entries <= now.tensormap as u64,
        _ => false,
    };
    // A program that leaves out what does not fit needs other things than the oracle did.
    if enough && !program.tolerant {
        return wrong("refused although the program needs less");
    }
    let same = |b: &&Attempt| {
        b.deadlock && attempt.deadlock && (b.ring, b.resource) == (attempt.ring, attempt.resource)
    };
    let partly = |b: &Attempt| b.to_read || b.left_out > 0 || attempt.attempts > b.attempts;
    let helped = before.iter().rev().find(same).is_none_or(partly);
    if helped { Ok(()) } else { wrong("refused again although the hint was followed") }
}

/// A program that needs more slots or entries than there are cannot have run to its end.
fn missed(needs: &Needs, now: &Capacity, got: &Outcome) -> Result<(), Failure> {
    // What is left out needs nothing, and a panic outranks the deadlock.
    if !got.refused.is_empty() || matches!(got.verdict, Verdict::Panicked(_)) {
        return Ok(());
    }
    let short = (0..RINGS).find(|&ring| needs.window[ring] > now.window[ring] as u64);
    if short.is_some() || needs.entries > now.tensormap as u64 {
        return Err(format!("no deadlock although the rings are too small: needs {needs:?}, rings {now:?}"));
    }
    Ok(())
}

fn again(
    program: &Program,
    expected: &(Outcome, Vec<Fate>),
    runtime: &mut impl Engine,
) -> Result<(), Failure> {
    let (got, report) = on_engine(runtime, program, None);
    let refused = match &got.verdict {
        Verdict::Failed(error) => Attempt::of(error, &got),
        _ => None,
    };
    // How many edges a barrier takes, and where gaps are in a byte ring, depends on how far tasks have come: where a
    // ring is barely large enough one run may pass and the next one not.
    let by_chance = |a: Attempt| {
        let tiny = matches!(program.rings, Rings::Tiny(_));
        tiny && matches!(a.resource, Resource::DepPool | Resource::Heap | Resource::Args)
    };
    if refused.is_some_and(by_chance) { Ok(()) } else { compare(program, expected, &got, report.as_ref()) }
}

/// A small program runs on a runtime that just gave up on another.
fn probe(runtime: &mut impl Engine) -> Result<(), Failure> {
    static STEP: Kernel = Kernel::new("STEP", CoreType::Any, &[<&mut [u32]>::SPEC], |args| {
        args.take::<&mut [u32]>()?.iter_mut().for_each(|v| *v = *v * 3 + 1);
        Ok(())
    })
    .with_cuda(CudaBody {
        source: "rl_each(i, x.len()) x[i] = x[i] * 3u + 1u;",
        params: &["x"],
        file: file!(),
        line: line!(),
    });
    ringlane_engine::inventory::submit! { Registered(&STEP) }
    let mut data = Buffers::new();
    let x = data.add(&[2], &[1u32, 2]).map_err(|e| format!("{e:?}"))?;
    let run = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        for _ in 0..8 {
            o.scope(|o| o.submit(&STEP, [x.inout()]).map(drop))?;
        }
        Ok(())
    });
    let values = data.get::<u32>(x).map_err(|e| format!("{e:?}"))?;
    let right = run.result.is_ok() && values == [9841, 16402];
    if right { Ok(()) } else { Err(format!("a run after a refusal: {:?} {values:?}", run.result)) }
}

/// What differs between what was expected and what the engine gave.
pub(super) fn compare(
    program: &Program,
    expected: &(Outcome, Vec<Fate>),
    got: &Outcome,
    report: Option<&RunReport>,
) -> Result<(), Failure> {
    let without;
    let (want, fates) = if got.refused.is_empty() {
        expected
    } else {
        without = on_oracle(program, &got.refused);
        &without
    };
    verdicts(want, fates, got)?;
    differ("log", &want.log, &got.log)?;
    if matches!(want.verdict, Verdict::Panicked(_)) {
        // The panic stops tasks in flight; what they would have written is open.
        return Ok(());
    }
    if let (Some(want), Some(got)) = (&want.ran, &got.ran) {
        differ("blocks that ran, by task", want, got)?;
    }
    for (i, (want, got)) in want.buffers.iter().zip(&got.buffers).enumerate() {
        differ(&format!("buffer {i}"), want, got)?;
    }
    let count = |f: fn(&Fate) -> bool| fates.iter().filter(|fate| f(fate)).count() as u64;
    let blocks = want.ran.iter().flatten().map(|&n| n as u64).sum();
    let totals =
        (fates.len() as u64, blocks, count(|f| matches!(f, Fate::Failed(_))), count(|f| *f == Fate::Skipped));
    let report = report.ok_or("no report of a run that ended")?;
    let counted = (report.tasks, report.blocks, report.failed, report.skipped);
    if totals != counted {
        return Err(format!("tasks, blocks, failed, skipped: expected {totals:?}, got {counted:?}"));
    }
    Ok(())
}

/// Whether both ended alike.
fn verdicts(want: &Outcome, fates: &[Fate], got: &Outcome) -> Result<(), Failure> {
    let first = fates.iter().find_map(|fate| match fate {
        Fate::Failed(cause) => Some(cause.as_str()),
        _ => None,
    });
    let same = match (&want.verdict, &got.verdict) {
        (Verdict::Done, Verdict::Done) => true,
        (Verdict::Panicked(a), Verdict::Panicked(b)) => a == b,
        (Verdict::Failed(a), Verdict::Failed(b)) => match (first, b.fault()) {
            // A failed task outranks an error that the orchestration returns.
            (Some(cause), Fault::TaskFailed(failure)) => {
                // A body on a device cannot panic: it fails with the same text.
                let text = if got.ran.is_none() { cause.rsplit(": ").next().unwrap_or(cause) } else { cause };
                failure.cause == text && labels_agree(a, failure)
            }
            (Some(_), _) => false,
            (None, _) => a.name() == b.name(),
        },
        _ => false,
    };
    let (a, b) = (&want.verdict, &got.verdict);
    if same { Ok(()) } else { Err(format!("expected {a:?}, got {b:?}; first failure {first:?}")) }
}

/// Whether a failed task has the name that it has for the oracle, if that saw it fail, too.
fn labels_agree(want: &Error, got: &TaskFailure) -> bool {
    match want.fault() {
        Fault::TaskFailed(want) => want.label == got.label,
        _ => true,
    }
}

/// The first place where two lists differ.
fn differ<T: PartialEq + std::fmt::Debug>(what: &str, want: &[T], got: &[T]) -> Result<(), Failure> {
    if want == got {
        return Ok(());
    }
    let at = want.iter().zip(got).position(|(a, b)| a != b).unwrap_or(want.len().min(got.len()));
    let (a, b) = (want.get(at), got.get(at));
    Err(format!(
        "{what} differs at {at}: expected {a:?}, got {b:?} (lengths {} and {})",
        want.len(),
        got.len()
    ))
}
