//! The filters: which captured arguments are meant.

use ringlane_insight::dump::{ArgKind, Filter, parse_stage};
use ringlane_task::TaskId;
use ringlane_trace::deps::TensorIndex;
use ringlane_trace::dump::{Role, Stage};

use crate::errors::CliError;
use crate::options;

/// Which records: those that match all given filters.
#[derive(clap::Args)]
#[command(next_help_heading = "Filters")]
pub struct FilterArgs {
    /// Only records of this task; ID is a task id or ring:number
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = options::task)]
    task: Option<TaskId>,
    /// Only tasks that run this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Only this argument, by its index
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = arg)]
    arg: Option<u32>,
    /// Only parts of this tensor, by its number in the list and in deps.json
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = tensor)]
    tensor: Option<TensorIndex>,
    /// Only records captured before the task ran, or after: before, after
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    stage: Option<Stage>,
    /// Only arguments with this role: input, output, inout
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Option<Role>,
    /// Only this kind of argument: tensor, scalar
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<ArgKind>,
    /// Only the record with this index in the list
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = index)]
    index: Option<u64>,
}

impl FilterArgs {
    /// What is asked for.
    pub fn filter(&self) -> Filter {
        Filter {
            task: self.task,
            kernel: self.kernel.clone(),
            arg: self.arg,
            tensor: self.tensor,
            stage: self.stage,
            role: self.role,
            kind: self.kind,
            index: self.index,
        }
    }
}

fn arg(text: &str) -> Result<u32, CliError> {
    text.parse().map_err(|_| CliError::bad_value("--arg", text, "a number from 0", "--arg 0"))
}

fn tensor(text: &str) -> Result<TensorIndex, CliError> {
    let number = text.parse().map(TensorIndex);
    number.map_err(|_| CliError::bad_value("--tensor", text, "a number from 0", "--tensor 0"))
}

fn index(text: &str) -> Result<u64, CliError> {
    text.parse().map_err(|_| CliError::bad_value("--index", text, "a number from 0", "--index 0"))
}

fn stage(text: &str) -> Result<Stage, CliError> {
    let allowed = "before, after, before_dispatch, after_completion";
    parse_stage(text).ok_or_else(|| CliError::bad_value("--stage", text, allowed, "--stage after"))
}

fn role(text: &str) -> Result<Role, CliError> {
    let known = [Role::Input, Role::Output, Role::InOut];
    let found = known.into_iter().find(|role| role.as_str() == text);
    found.ok_or_else(|| CliError::bad_value("--role", text, "input, output, inout", "--role output"))
}

fn kind(text: &str) -> Result<ArgKind, CliError> {
    let found = [ArgKind::Tensor, ArgKind::Scalar].into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| CliError::bad_value("--kind", text, "tensor, scalar", "--kind tensor"))
}
