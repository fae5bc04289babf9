//! Which captured arguments are meant.

use ringlane_task::TaskId;
use ringlane_trace::deps::TensorIndex;
use ringlane_trace::dump::{DumpData, Role, Stage};

use super::catalog::Captured;

/// What kind of argument a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Elements.
    Tensor,
    /// One value.
    Scalar,
}

impl ArgKind {
    /// The kind of what was found in an argument.
    pub const fn of(data: &DumpData) -> Self {
        match data {
            DumpData::Tensor(_) => ArgKind::Tensor,
            DumpData::Scalar(_) => ArgKind::Scalar,
        }
    }

    /// The name used in every artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            ArgKind::Tensor => "tensor",
            ArgKind::Scalar => "scalar",
        }
    }
}

/// Lets a record through if it is all that is asked for; asked for nothing, it lets all through.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this task.
    pub task: Option<TaskId>,
    /// Of a task that runs this kernel.
    pub kernel: Option<String>,
    /// This argument.
    pub arg: Option<u32>,
    /// A part of this tensor.
    pub tensor: Option<TensorIndex>,
    /// Captured then.
    pub stage: Option<Stage>,
    /// That is this to its task.
    pub role: Option<Role>,
    /// Of this kind.
    pub kind: Option<ArgKind>,
    /// At this place in the catalog.
    pub index: Option<u64>,
}

impl Filter {
    /// Whether a record is let through.
    pub fn takes(&self, captured: &Captured<'_>) -> bool {
        let record = captured.record;
        let runs = |kernel: &String| {
            captured.kernel.split('+').any(|name| name == kernel) || captured.kernel == kernel
        };
        self.task.is_none_or(|task| task == record.task_id)
            && self.kernel.as_ref().is_none_or(runs)
            && self.arg.is_none_or(|arg| arg == record.arg_index)
            && self.tensor.is_none_or(|tensor| captured.tensor() == Some(tensor))
            && self.stage.is_none_or(|stage| stage == record.stage)
            && self.role.is_none_or(|role| role == record.role)
            && self.kind.is_none_or(|kind| kind == ArgKind::of(&record.data))
            && self.index.is_none_or(|index| index == captured.index)
    }
}

/// A stage by its name, or by the first word of it.
pub fn parse_stage(text: &str) -> Option<Stage> {
    match text {
        "before" | "before_dispatch" => Some(Stage::BeforeDispatch),
        "after" | "after_completion" => Some(Stage::AfterCompletion),
        _ => None,
    }
}
