//! What is read quickly is what `serde` reads.

use std::io::Cursor;

use proptest::prelude::*;
use ringlane_task::{SiteId, TensorView};

use super::super::read::{Edges, Reader, Tasks, Tensors};
use super::super::{DepsNames, DepsRow, DepsTaskRow, DepsWriter, LaneKernel, skeleton};
use super::*;
use crate::rows::quick::check::{changed, is_quick, read_through};

/// A file with every kind of row, and with a kernel of this name.
fn file(name: &str) -> Vec<u8> {
    let kernel = KernelRow { func_id: KernelId(0), name: name.to_string(), core_type: "aiv".to_string() };
    let names = DepsNames::new(&["src/run.rs:7"], &[kernel]);
    let spools = [Cursor::new(Vec::new()), Cursor::new(Vec::new())];
    let mut text = Vec::new();
    let mut writer = DepsWriter::new(&mut text, spools, &names);
    let view = ViewRow::from(&TensorView::contiguous(DType::Float32, &[3, 400]).unwrap());
    let arg = |index, access| DepsArg { index, access, tensor: TensorIndex(index), view };
    let args = [arg(0, Access::Input), arg(1, Access::OutputExisting)];
    let lanes = [0, 1].map(|lane| LaneKernel { func_id: KernelId(0), lane });
    for (seq, kernels, args) in
        [(0, &lanes[..], &args[..]), (1, &[], &args[..1]), (u64::MAX, &lanes[..1], &[])]
    {
        let (task_id, inference) = (
            TaskId(seq / 3 + (1 << 32)),
            if seq == 1 { Inference::Manual } else { Inference::FromArguments },
        );
        let (block_num, scope, site) = (1, ScopeId(3), SiteId(0));
        let seq = Seq(seq);
        let label = (seq == Seq(0)).then_some("layer 3");
        let row = DepsTaskRow { task_id, seq, block_num, scope, site, inference, kernels, args, label };
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
    assert!(tasks[..2].iter().all(|row| is_quick(&Tasks, row) && is_quick(&skeleton::Tasks, row)));
    assert!(!is_quick(&Tasks, &tasks[2]));
    let tensors = rows(&text, "{\"tensor\":");
    assert!(tensors.iter().all(|row| is_quick(&Tensors, row) && is_quick(&skeleton::Tensors, row)));
    let edges = rows(&text, "{\"pred\":");
    assert!(edges.iter().all(|row| is_quick(&Edges, row) && is_quick(&skeleton::Edges, row)));
    assert_eq!((tasks.len(), tensors.len(), edges.len()), (3, 2, 9));
}

/// All rows of a file, read through a buffer of this size.
fn read(text: &[u8], buffer_bytes: usize) -> (Vec<DepsRow>, u64) {
    let mut rows = Vec::new();
    let reader = Reader::new(|row| rows.push(row));
    let dropped = read_through(text, buffer_bytes, reader).unwrap().dropped;
    (rows, dropped)
}

proptest! {
    #[test]
    fn what_is_read_quickly_is_what_serde_reads(text in changed(rows(&file("a"), "{"))) {
        is_quick(&Tasks, &text);
        is_quick(&Tensors, &text);
        is_quick(&Edges, &text);
        is_quick(&skeleton::Tasks, &text);
        is_quick(&skeleton::Edges, &text);
        is_quick(&skeleton::Tensors, &text);
    }

    #[test]
    fn a_file_is_the_same_in_any_form_and_however_it_is_cut(name in any::<String>(), buffer_bytes in 1..2000usize) {
        let text = file(&name);
        let (rows, dropped) = read(&text, buffer_bytes);
        prop_assert_eq!((rows.len(), dropped), (14, 2));
        let DepsRow::Task(first) = &rows[0] else { panic!("{:?}", rows[0]) };
        prop_assert_eq!(&first.kernels[0].0.name, &name);
        // With white space everywhere, the fields in the order of the alphabet, and so the version last.
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let (mut moved, _) = read(&serde_json::to_vec_pretty(&value).unwrap(), buffer_bytes);
        moved.sort_by_key(|row| match row {
            DepsRow::Task(_) => 0,
            DepsRow::Tensor(_) => 1,
            DepsRow::Edge(_) => 2,
        });
        prop_assert_eq!(moved, rows);
    }
}
