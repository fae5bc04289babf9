//! A small run, true in every file: four tasks on two cores of a simulated chip. The second is mixed and changes what
//! the first made, the third is a barrier, the fourth runs two blocks that write part of a buffer.
//!
//! ```text
//! core 0 (aic)   SCALE ──────────── MIX lane 0
//! core 1 (aiv)                      MIX lane 1 ──── barrier ──── ADD block 0 ── ADD block 1
//! ```
#![allow(dead_code)]

#[path = "../../src/test_dir.rs"]
mod test_dir;

use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ringlane_task::*;
use ringlane_trace::deps::*;
use ringlane_trace::dump::{self, *};
use ringlane_trace::pmu::{self, *};
use ringlane_trace::rows::ViewRow;
use ringlane_trace::scopes::{self, *};
use ringlane_trace::swimlane::{self, *};
use ringlane_trace::{ArtifactFile, FileEntry, Manifest, RunDir};
pub(crate) use test_dir::TestDir;

pub const SCALE: TaskId = TaskId(0);
pub const MIX: TaskId = TaskId(1 << 32);
pub const BARRIER: TaskId = TaskId((1 << 32) + 1);
pub const ADD: TaskId = TaskId((1 << 32) + 2);

/// How long the run took.
pub const MAKESPAN: u64 = 1000;

pub fn kernels() -> Vec<KernelRow> {
    let kernel = |id, name: &str, core: &str| KernelRow {
        func_id: KernelId(id),
        name: name.to_string(),
        core_type: core.to_string(),
    };
    vec![
        kernel(0, "SCALE", "aic"),
        kernel(1, "\"><script>", "aic"),
        kernel(2, "a,b\nc", "aiv"),
        kernel(3, "ADD", "aiv"),
    ]
}

pub fn meta() -> SwimlaneMeta {
    SwimlaneMeta {
        platform: "a2a3sim".to_string(),
        clock_freq_hz: 50_000_000,
        core_types: vec!["aic".to_string(), "aiv".to_string()],
        num_scheduler_threads: 2,
        core_to_thread: vec![0, 1],
        kernels: kernels(),
    }
}

/// Core, task, kernel, lane, block, and the four stamps in the order of time.
pub fn blocks() -> Vec<BlockRow> {
    let row = |core, task_id, func, lane, block, [dispatch, start, end, finish]: [u64; 4]| BlockRow {
        core: CoreId(core),
        task_id,
        func_id: KernelId(func),
        lane,
        block: BlockIndex(block),
        start: Ticks(start),
        end: Ticks(end),
        dispatch: Ticks(dispatch),
        finish: Ticks(finish),
        ..BlockRow::default()
    };
    vec![
        row(0, SCALE, 0, 0, 0, [20, 30, 100, 110]),
        row(0, MIX, 1, 0, 0, [120, 130, 200, 210]),
        row(1, MIX, 2, 1, 0, [122, 135, 220, 230]),
        row(1, ADD, 3, 0, 0, [250, 260, 300, 310]),
        row(1, ADD, 3, 0, 1, [312, 320, 380, 390]),
    ]
}

pub fn task_rows() -> Vec<TaskRow> {
    let row = |task_id, seq, ready, reclaim: Option<u64>| TaskRow {
        task_id,
        seq: Seq(seq),
        ready: Ticks(ready),
        reclaim: reclaim.map(Ticks),
    };
    vec![
        row(SCALE, 0, 10, Some(900)),
        row(MIX, 1, 112, Some(500)),
        row(BARRIER, 2, 235, Some(510)),
        row(ADD, 3, 240, None),
    ]
}

pub fn engine_edges() -> Vec<swimlane::EdgeRow> {
    [(SCALE, MIX), (MIX, BARRIER), (MIX, ADD), (BARRIER, ADD)]
        .map(|(pred, succ)| swimlane::EdgeRow { pred, succ })
        .to_vec()
}

pub fn phases() -> Vec<PhaseRow> {
    let row = |thread, phase, start, end| PhaseRow {
        thread,
        phase,
        start: Ticks(start),
        end: Ticks(end),
        loop_: 7,
        tasks: 2,
    };
    vec![
        row(0, Phase::Dispatch, 0, 500),
        row(0, Phase::Idle, 500, 1000),
        row(1, Phase::Complete, 0, 400),
        row(1, Phase::Reclaim, 400, 1000),
    ]
}

pub fn submits() -> Vec<SubmitRow> {
    let row = |task_id, start| SubmitRow {
        task_id,
        start: Ticks(start),
        end: Ticks(start + 20),
        stall: Ticks(2),
        alloc: Ticks(4),
        lookup: Ticks(5),
        insert: Ticks(4),
        wire: Ticks(5),
        heap_bytes: 64,
        read: Ticks(start / 3),
        read_end: Ticks(start),
    };
    vec![row(SCALE, 0), row(MIX, 30), row(BARRIER, 60), row(ADD, 90)]
}

fn whole() -> ViewRow {
    ViewRow::from(&TensorView::contiguous(DType::Float32, &[4, 4]).unwrap())
}

fn left_half() -> ViewRow {
    ViewRow::from(&TensorView::contiguous(DType::Float32, &[4, 4]).unwrap().slice(1, 0, 2).unwrap())
}

fn arg(index: u32, access: Access, tensor: u32, view: ViewRow) -> DepsArg {
    DepsArg { index, access, tensor: TensorIndex(tensor), view, split: None }
}

pub fn tensors() -> Vec<DepsTensor> {
    let tensor = |tensor, origin| DepsTensor { tensor: TensorIndex(tensor), bytes: 64, origin };
    vec![tensor(0, Origin::External), tensor(1, Origin::Heap), tensor(2, Origin::External)]
}

pub fn deps_edges() -> Vec<DepsEdge> {
    let cause = |hazard, tensor| {
        let overlap = deps_overlap();
        Some(EdgeCause { hazard, arg: 0, tensor: TensorIndex(tensor), overlap })
    };
    let edge = |pred, succ, source, cause| DepsEdge { pred, succ, source, cause };
    vec![
        edge(SCALE, MIX, EdgeSource::Creator, cause(Hazard::Raw, 1)),
        edge(MIX, BARRIER, EdgeSource::Explicit, None),
        edge(BARRIER, ADD, EdgeSource::Explicit, None),
        edge(MIX, ADD, EdgeSource::TensorMap, cause(Hazard::Raw, 1)),
    ]
}

const fn deps_overlap() -> Overlap {
    Overlap::Covered
}

pub fn write_swimlane(out: &mut impl Write, level: SwimlaneLevel) -> SwimlaneCounts {
    let mut writer = SwimlaneWriter::new(out, level, &meta());
    blocks().iter().for_each(|row| writer.row(row).unwrap());
    if level >= SwimlaneLevel::Tasks {
        task_rows().iter().for_each(|row| writer.row(row).unwrap());
        engine_edges().iter().for_each(|row| writer.row(row).unwrap());
    }
    if level >= SwimlaneLevel::Phases {
        phases().iter().for_each(|row| writer.row(row).unwrap());
        submits().iter().for_each(|row| writer.row(row).unwrap());
    }
    writer.finish(&SwimlaneDropped::default()).unwrap()
}

/// A name with all that JSON has to escape.
pub const MIX_LABEL: &str = "layer \"3\"\n\u{1b}\\ größe";

pub fn write_deps(out: &mut impl Write, spools: [fs::File; 2]) -> DepsCounts {
    let names = DepsNames::new(&["src/run.rs:7", "src/run.rs:9"], &kernels());
    let lane = |func, lane| TaskKernel { kernel: Cow::Borrowed(names.kernel(KernelId(func)).unwrap()), lane };
    let mut writer = DepsWriter::new(out, spools);
    let mut task = |task_id, seq, block_num, kernels: &[TaskKernel<'_>], args: &[DepsArg]| {
        let row = DepsTask {
            task_id,
            seq: Seq(seq),
            block_num,
            scope: ScopeId(u32::from(seq > 0)),
            site: names.site(SiteId(u32::from(seq > 0))).unwrap().into(),
            inference: Inference::FromArguments,
            kernels: kernels.into(),
            args: args.into(),
            label: (task_id == MIX).then_some(MIX_LABEL.into()),
            ..DepsTask::default()
        };
        writer.task(&row).unwrap();
    };
    let scale = [arg(0, Access::Input, 0, whole()), arg(1, Access::Output, 1, whole())];
    let add = [arg(0, Access::Input, 1, whole()), arg(1, Access::OutputExisting, 2, left_half())];
    task(SCALE, 0, 1, &[lane(0, 0)], &scale);
    task(MIX, 1, 1, &[lane(1, 0), lane(2, 1)], &[arg(0, Access::InOut, 1, whole())]);
    task(BARRIER, 2, 1, &[], &[]);
    task(ADD, 3, 2, &[lane(3, 0)], &add);
    tensors().iter().for_each(|row| writer.tensor(row).unwrap());
    deps_edges().iter().for_each(|row| writer.edge(row).unwrap());
    writer.finish(0).unwrap()
}

pub fn records() -> Vec<DumpRecord> {
    use Stage::{AfterCompletion as After, BeforeDispatch as Before};
    let tensor = |task_id, arg_index, role, stage, (tensor, view): (u32, ViewRow), bin_offset| DumpRecord {
        task_id,
        arg_index,
        role,
        stage,
        data: DumpData::Tensor(DumpTensor {
            tensor: Some(TensorIndex(tensor)),
            view,
            truncated: Truncated::No,
            bin_offset,
            bin_size: view.bytes().unwrap(),
            crc32: None,
        }),
    };
    let scalar = |task_id, value| DumpRecord {
        task_id,
        arg_index: 2,
        role: Role::Input,
        stage: Before,
        data: DumpData::Scalar(value),
    };
    vec![
        tensor(SCALE, 0, Role::Input, Before, (0, whole()), 0),
        scalar(SCALE, Scalar::new(1.0f32)),
        tensor(SCALE, 1, Role::Output, After, (1, whole()), 64),
        tensor(MIX, 0, Role::InOut, Before, (1, whole()), 128),
        tensor(MIX, 0, Role::InOut, After, (1, whole()), 192),
        tensor(ADD, 0, Role::Input, Before, (1, whole()), 256),
        scalar(ADD, Scalar::new(-(1i64 << 60))),
        tensor(ADD, 1, Role::Output, After, (2, left_half()), 320),
    ]
}

pub fn write_dump(out: &mut impl Write) -> DumpCounts {
    let mut writer = DumpWriter::new(out, None, &kernels().iter().map(DumpKernel::from).collect::<Vec<_>>());
    for (task_id, seq, func_ids) in [
        (SCALE, Seq(0), &[KernelId(0)][..]),
        (MIX, Seq(1), &[KernelId(1), KernelId(2)]),
        (ADD, Seq(3), &[KernelId(3)]),
    ] {
        writer.task(&DumpTask { task_id, seq, func_ids: func_ids.into() }).unwrap();
    }
    records().iter().for_each(|record| writer.record(record).unwrap());
    writer.finish(0).unwrap()
}

/// The captured bytes: what one task wrote, the next one read.
pub fn payload() -> Vec<u8> {
    let pieces = [(0u8, 64), (1, 64), (1, 64), (2, 64), (2, 64), (3, 32)];
    pieces.iter().flat_map(|&(byte, count)| vec![byte; count]).collect()
}

pub fn write_pmu(out: &mut impl Write) -> u64 {
    let mut writer = PmuWriter::new(out, &["instructions", "cache,misses"]);
    for block in blocks() {
        let row = PmuRow {
            thread_id: block.core.0,
            core_id: block.core,
            task_id: block.task_id,
            func_id: block.func_id,
            core_type: if block.core.0 == 0 { "aic" } else { "aiv" }.into(),
            pmu_total_cycles: block.end.0 - block.start.0,
            counters: (&[12, 34][..]).into(),
            event_type: 2,
        };
        writer.row(&row).unwrap();
    }
    writer.finish().unwrap()
}

pub fn scope_rows() -> Vec<ScopeRow<'static>> {
    let peaks = |ring: usize, peak, capacity| {
        let mut peaks = [Peak { peak: 0, capacity }; RINGS];
        peaks[ring].peak = peak;
        peaks
    };
    let row = |scope, parent, ring: u8, tasks, enter, exit| ScopeRow {
        scope: ScopeId(scope),
        parent,
        label: None,
        site: format!("src/run.rs:{}", 7 + 2 * scope).into(),
        depth: u32::from(ring),
        ring: RingIndex(ring),
        tasks,
        enter: Ticks(enter),
        exit: Some(Ticks(exit)),
        task_window: peaks(usize::from(ring), tasks, 16384),
        heap: peaks(usize::from(ring), 64, 268_435_456),
        dep_pool: peaks(usize::from(ring), 2, 65536),
        args: peaks(usize::from(ring), 512, 8_388_608),
        tensormap: Peak { peak: 3, capacity: 65535 },
        fanin: Peak { peak: 2, capacity: 1024 },
        need: ScopeNeed {
            task_window: tasks,
            heap: 64,
            dep_pool: 2,
            args: 512,
            heap_piece: 64,
            args_piece: 256,
        },
        stalls: vec![ScopeStall {
            ring: Some(RingIndex(ring)),
            resource: Resource::Heap,
            count: 3,
            ticks: Ticks(9),
        }]
        .into(),
    };
    vec![row(1, Some(ScopeId(0)), 1, 3, 25, 120), row(0, None, 0, 1, 0, 990)]
}

pub fn write_scopes(out: &mut impl Write) -> scopes::RowCounts {
    let mut writer = ScopesWriter::new(out, None);
    scope_rows().iter().for_each(|row| writer.scope(row).unwrap());
    writer.finish(0).unwrap()
}

/// Writes the run with all five instruments at this swimlane level.
pub fn write_run(path: &Path, level: SwimlaneLevel) {
    let dir = RunDir::create_exact(path).unwrap();
    dir.reserve_manifest().unwrap();
    let mut files = Vec::new();
    let mut add = |name: &str, rows: Option<u64>, file: ArtifactFile| {
        let bytes = file.commit().unwrap();
        files.push(match rows {
            Some(rows) => FileEntry::with_rows(name, bytes, rows, 0),
            None => FileEntry::plain(name, bytes),
        });
    };
    let mut file = dir.create_file(swimlane::FILE_NAME).unwrap();
    add(swimlane::FILE_NAME, Some(write_swimlane(&mut file, level).blocks.collected), file);
    let mut file = dir.create_file(dump::FILE_NAME).unwrap();
    add(dump::FILE_NAME, Some(write_dump(&mut file).records.collected), file);
    let mut file = dir.create_file(dump::BIN_FILE_NAME).unwrap();
    file.write_all(&payload()).unwrap();
    add(dump::BIN_FILE_NAME, None, file);
    let mut file = dir.create_file(pmu::FILE_NAME).unwrap();
    add(pmu::FILE_NAME, Some(write_pmu(&mut file)), file);
    let mut file = dir.create_file(ringlane_trace::deps::FILE_NAME).unwrap();
    let spools = [dir.spool().unwrap(), dir.spool().unwrap()];
    add(ringlane_trace::deps::FILE_NAME, Some(write_deps(&mut file, spools).tasks.collected), file);
    let mut file = dir.create_file(scopes::FILE_NAME).unwrap();
    add(scopes::FILE_NAME, Some(write_scopes(&mut file).collected), file);
    let instruments = DfxFlags::DUMP.with(DfxFlags::PMU).with(DfxFlags::DEPS).with(DfxFlags::SCOPES);
    let flags = instruments.with_swimlane_level(level.number()).unwrap();
    let now = "2026-11-15T09:30:12Z".parse().unwrap();
    let mut manifest = Manifest::new("by_hand", "small", "a2a3sim", now).with_dfx_flags(flags);
    (manifest.tasks, manifest.blocks, manifest.scopes, manifest.cores) = (4, 5, 2, 2);
    (manifest.makespan_ticks, manifest.clock_freq_hz) = (MAKESPAN, 50_000_000);
    manifest.files = files;
    manifest.write(&dir).unwrap();
}

/// What the project's script prints of some runs, where the script and its language are there.
pub fn script(runs: &[PathBuf]) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/check_run.py");
    if !script.exists() {
        return None;
    }
    let output = Command::new("python3").arg(script).args(runs).output().ok()?;
    Some(String::from_utf8(output.stdout).unwrap())
}
