//! What is read quickly is what `serde` reads.

use std::io::Cursor;

use proptest::prelude::*;
use ringlane_task::{DType, KernelId, TensorView, Ticks};

use super::read::{DepsRow, Reader};
use super::*;
use crate::rows::document::RowReader;
use crate::rows::quick::check::{changed, is_quick, read_through};
use crate::rows::row::{ALL, ObjectRows};
use crate::rows::scan::ReadError;

const TASKS: ObjectRows<DepsTask<'static>> = ObjectRows::new();
const TENSORS: ObjectRows<DepsTensor> = ObjectRows::new();
const EDGES: ObjectRows<DepsEdge> = ObjectRows::new();

/// Tasks of which only some columns are read.
struct Skeletons;

impl RowReader for Skeletons {
    type Row = (TaskId, Seq, Option<String>);

    fn quick(&self, text: &mut Quick<'_>) -> Option<Self::Row> {
        ObjectRows::<DepsTask<'static>, { skeleton::WANTED }>::new().quick(text).map(skeleton_of)
    }

    fn whole(&self, text: &[u8]) -> Result<Self::Row, ReadError> {
        TASKS.whole(text).map(skeleton_of)
    }
}

fn skeleton_of(task: DepsTask<'_>) -> (TaskId, Seq, Option<String>) {
    (task.task_id, task.seq, task.label.map(Cow::into_owned))
}

/// A file with every kind of row, and with a kernel of this name.
fn file(name: &str) -> Vec<u8> {
    let kernel = KernelRow { func_id: KernelId(0), name: name.to_string(), core_type: "aiv".to_string() };
    let spools = [Cursor::new(Vec::new()), Cursor::new(Vec::new())];
    let mut text = Vec::new();
    let mut writer = DepsWriter::new(&mut text, spools);
    let view = ViewRow::from(&TensorView::contiguous(DType::Float32, &[3, 400]).unwrap());
    let arg = |index, access| DepsArg { index, access, tensor: TensorIndex(index), view, split: None };
    let args = [arg(0, Access::Input), arg(1, Access::OutputExisting)];
    let lanes = [0, 1].map(|lane| TaskKernel { kernel: Cow::Borrowed(&kernel), lane });
    for (seq, kernels, args) in
        [(0, &lanes[..], &args[..]), (1, &[], &args[..1]), (u64::MAX, &lanes[..1], &[])]
    {
        let row = DepsTask {
            task_id: TaskId(seq / 3 + (1 << 32)),
            seq: Seq(seq),
            block_num: 1,
            scope: ScopeId(3),
            site: "src/run.rs:7".into(),
            inference: Inference::of(seq == 1),
            kernels: kernels.into(),
            args: args.into(),
            label: (seq == 0).then_some("layer 3".into()),
            duration: (seq != 1).then_some(Ticks(seq)),
            ..DepsTask::default()
        };
        writer.task(&row).unwrap();
    }
    for (number, &origin) in Origin::ALL.iter().enumerate() {
        writer.tensor(&DepsTensor { tensor: TensorIndex(number as u32), bytes: 4800, origin }).unwrap();
    }
    for (&hazard, &overlap) in Hazard::ALL.iter().zip(Overlap::ALL) {
        for &source in EdgeSource::ALL {
            let cause = EdgeCause { hazard, arg: 1, tensor: TensorIndex(1), overlap };
            let cause = (source != EdgeSource::Explicit).then_some(cause);
            writer.edge(&DepsEdge { pred: TaskId(1 << 32), succ: TaskId(7), source, cause }).unwrap();
        }
    }
    writer.finish(2).unwrap();
    text
}

/// The lines of the rows that begin with this.
fn rows(text: &[u8], start: &str) -> Vec<Vec<u8>> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(start.as_bytes()));
    lines.map(<[u8]>::to_vec).collect()
}

#[test]
fn rows_of_the_writer_are_read_quickly() {
    let text = file("STEP");
    // The last sequence number has twenty digits.
    let tasks = rows(&text, "{\"task_id\":");
    assert!(tasks[..2].iter().all(|row| is_quick(&TASKS, row) && is_quick(&Skeletons, row)));
    assert!(!is_quick(&TASKS, &tasks[2]));
    let tensors = rows(&text, "{\"tensor\":");
    assert!(tensors.iter().all(|row| is_quick(&TENSORS, row)));
    let edges = rows(&text, "{\"pred\":");
    assert!(edges.iter().all(|row| is_quick(&EDGES, row)));
    assert_eq!((tasks.len(), tensors.len(), edges.len()), (3, 2, 9));
}

/// All rows of a file, read through a buffer of this size.
fn read(text: &[u8], buffer_bytes: usize) -> (Vec<DepsRow>, u64) {
    let mut rows = Vec::new();
    let reader = Reader::<_, ALL>::new(|row| rows.push(row));
    let dropped = read_through(text, buffer_bytes, reader).unwrap().dropped;
    (rows, dropped)
}

proptest! {
    #[test]
    fn what_is_read_quickly_is_what_serde_reads(text in changed(rows(&file("a"), "{"))) {
        is_quick(&TASKS, &text);
        is_quick(&TENSORS, &text);
        is_quick(&EDGES, &text);
        is_quick(&Skeletons, &text);
    }

    #[test]
    fn a_file_is_the_same_in_any_form_and_however_it_is_cut(name in any::<String>(), buffer_bytes in 1..2000usize) {
        let text = file(&name);
        let (rows, dropped) = read(&text, buffer_bytes);
        prop_assert_eq!((rows.len(), dropped), (14, 2));
        let DepsRow::Task(first) = &rows[0] else { panic!("{:?}", rows[0]) };
        prop_assert_eq!(&first.kernels[0].kernel.name, &name);
        // With white space everywhere, the fields in the order of the alphabet, and so the version last.
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let (mut moved, _) = read(&serde_json::to_vec_pretty(&value).unwrap(), buffer_bytes);
        moved.sort_by_key(|row| match row {
            DepsRow::Task(_) => 0,
            DepsRow::Tensor(_) => 1,
            DepsRow::Edge(_) => 2,
            DepsRow::Buffer(_) => 3,
            DepsRow::LastStep(_) => 4,
        });
        prop_assert_eq!(moved, rows);
    }
}
