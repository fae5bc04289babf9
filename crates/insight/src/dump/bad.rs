//! The first task that made a NaN or an infinity out of finite inputs.

use ringlane_task::{DType, Seq, TaskId};
use ringlane_trace::dump::{DumpData, Payloads, Role, Stage, Truncated};
use ringlane_trace::rows::RowCounts;
use serde::{Serialize, Serializer};

use super::catalog::{Captured, Catalog, place_in};
use super::stats::{Stats, stats};
use super::value::Value;
use crate::InsightError;

/// An argument with a NaN or an infinity in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BadArgument {
    /// Which argument.
    pub arg: u32,
    /// What it is to its task.
    pub role: Role,
    /// When it was captured.
    pub stage: Stage,
    /// The type of its elements.
    pub dtype: DType,
    /// Lengths of its dimensions.
    pub shape: Vec<u64>,
    /// How many elements there are, and what the finite ones are like.
    pub stats: Stats,
    /// The place of the first bad one, outermost dimension first.
    pub first: Vec<u64>,
    /// What it is.
    pub value: Value,
}

/// A finite input of a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputRange {
    /// Which argument.
    pub arg: u32,
    /// What it is to its task.
    pub role: Role,
    /// The type of its elements.
    pub dtype: DType,
    /// Lengths of its dimensions; none for a scalar.
    pub shape: Vec<u64>,
    /// What its elements are like.
    pub stats: Stats,
}

/// A task with bad arguments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BadTask {
    /// The task.
    #[serde(rename = "task_id")]
    pub task: TaskId,
    /// Its place in the order of submission.
    pub seq: Seq,
    /// Its kernels.
    pub kernel: String,
    /// Those of its arguments that are bad: outputs of a maker, inputs of a reader.
    pub bad: Vec<BadArgument>,
    /// Its finite inputs.
    pub inputs: Vec<InputRange>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bad {
    /// Records that were checked.
    pub records: u64,
    /// Of these, cut short: what is missing was not checked.
    #[serde(rename = "truncated")]
    pub cut: u64,
    /// Records in the file, and those that were lost when the run was recorded.
    #[serde(rename = "missing", serialize_with = "dropped_of")]
    pub lost: RowCounts,
    /// The first task that was given something bad which no captured task before it had made.
    pub given: Option<BadTask>,
    /// The first task that made something bad out of finite inputs.
    pub maker: Option<BadTask>,
}

/// How many are not there.
fn dropped_of<S: Serializer>(counts: &RowCounts, to: S) -> Result<S::Ok, S::Error> {
    counts.dropped.serialize(to)
}

impl Bad {
    /// Whether everything that was to be captured is there.
    pub const fn is_whole(&self) -> bool {
        self.cut == 0 && self.lost.dropped == 0
    }
}

/// Finds the first task that made a NaN or an infinity.
pub fn find_bad(catalog: &Catalog, payloads: &Payloads) -> Result<Bad, InsightError> {
    let mut found = Bad { lost: catalog.counts.records, ..Bad::default() };
    for records in catalog.by_task() {
        let task = check_task(&records, payloads, &mut found)?;
        let (inputs, outputs): (Vec<_>, Vec<_>) =
            task.bad.iter().cloned().partition(|argument| argument.stage == Stage::BeforeDispatch);
        if !inputs.is_empty() {
            found.given.get_or_insert(BadTask { bad: inputs, ..task });
        } else if !outputs.is_empty() {
            found.maker = Some(BadTask { bad: outputs, ..task });
            break;
        }
    }
    Ok(found)
}

fn check_task(
    records: &[Captured<'_>],
    payloads: &Payloads,
    found: &mut Bad,
) -> Result<BadTask, InsightError> {
    let first = &records[0];
    let mut task = BadTask {
        task: first.task.task_id,
        seq: first.seq(),
        kernel: first.kernel.to_string(),
        bad: Vec::new(),
        inputs: Vec::new(),
    };
    for captured in records {
        let (record, shape) = (captured.record, captured.shape());
        let (dtype, cut) = match &record.data {
            DumpData::Tensor(tensor) => (tensor.view.dtype, tensor.truncated == Truncated::Yes),
            DumpData::Scalar(scalar) => (scalar.dtype(), false),
        };
        let stats = stats(record, payloads, 0)?;
        found.records += 1;
        found.cut += u64::from(cut);
        let (arg, role, stage) = (record.arg_index, record.role, record.stage);
        match stats.first_bad {
            Some((first, value)) => {
                let first = place_in(&shape, first);
                task.bad.push(BadArgument { arg, role, stage, dtype, shape, stats, first, value });
            }
            None if stage == Stage::BeforeDispatch => {
                task.inputs.push(InputRange { arg, role, dtype, shape, stats });
            }
            None => {}
        }
    }
    Ok(task)
}
