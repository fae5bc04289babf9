//! Rows of `deps.json` as [`super::DepsWriter`] writes them; any other form is for `serde` (see [`crate::rows::quick`]).

use ringlane_task::{Access, DType, Dim, KernelId, MAX_RANK, ScopeId, Seq, TaskId};

use super::{
    DepsArg, DepsEdge, DepsTask, DepsTensor, EdgeCause, EdgeSource, Hazard, Inference, KernelRow, Origin,
    Overlap, TensorIndex,
};
use crate::rows::ViewRow;
use crate::rows::quick::Quick;

/// A task's fields up to its kernels.
pub(super) struct TaskHead<'t> {
    pub(super) task_id: TaskId,
    pub(super) seq: Seq,
    block_num: u32,
    scope: ScopeId,
    site: &'t str,
    inference: Inference,
}

#[inline]
pub(super) fn task_head<'t>(text: &mut Quick<'t>) -> Option<TaskHead<'t>> {
    text.text("{\"task_id\":")?;
    let task_id = TaskId(text.number()?);
    text.text(",\"seq\":")?;
    let seq = Seq(text.number()?);
    text.text(",\"block_num\":")?;
    let block_num = text.small()?;
    text.text(",\"scope\":")?;
    let scope = ScopeId(text.small()?);
    text.text(",\"site\":")?;
    let site = text.string()?;
    text.text(",\"manual\":")?;
    let inference = if text.truth()? { Inference::Manual } else { Inference::FromArguments };
    text.text(",\"kernels\":")?;
    Some(TaskHead { task_id, seq, block_num, scope, site, inference })
}

#[inline]
pub(super) fn task(text: &mut Quick<'_>) -> Option<DepsTask> {
    let TaskHead { task_id, seq, block_num, scope, site, inference } = task_head(text)?;
    let (mut kernels, mut args) = (Vec::new(), Vec::new());
    text.list(|text| {
        let Kernel { func_id, name, core_type, lane } = kernel(text)?;
        let (name, core_type) = (name.to_string(), core_type.to_string());
        kernels.push((KernelRow { func_id, name, core_type }, lane));
        Some(())
    })?;
    text.text(",\"args\":")?;
    text.list(|text| {
        args.push(arg(text)?);
        Some(())
    })?;
    let (site, label) = (site.to_string(), label_and_end(text)?.map(str::to_string));
    Some(DepsTask { task_id, seq, block_num, scope, site, inference, kernels, args, label })
}

/// Goes past a task and gives only who it is, and its name.
#[inline]
pub(super) fn task_skeleton<'t>(text: &mut Quick<'t>) -> Option<(TaskId, Seq, Option<&'t str>)> {
    let TaskHead { task_id, seq, .. } = task_head(text)?;
    text.list(|text| kernel(text).map(drop))?;
    text.text(",\"args\":")?;
    text.list(|text| arg(text).map(drop))?;
    Some((task_id, seq, label_and_end(text)?))
}

/// The name of a task, if it has one, and the end of the row.
#[inline]
fn label_and_end<'t>(text: &mut Quick<'t>) -> Option<Option<&'t str>> {
    if text.take(b'}').is_some() {
        return Some(None);
    }
    text.text(",\"label\":")?;
    let label = text.string()?;
    text.take(b'}')?;
    Some(Some(label))
}

struct Kernel<'t> {
    func_id: KernelId,
    name: &'t str,
    core_type: &'t str,
    lane: u8,
}

#[inline]
fn kernel<'t>(text: &mut Quick<'t>) -> Option<Kernel<'t>> {
    text.text("{\"func_id\":")?;
    let func_id = KernelId(text.small()?);
    text.text(",\"name\":")?;
    let name = text.string()?;
    text.text(",\"core_type\":")?;
    let core_type = text.string()?;
    text.text(",\"lane\":")?;
    let lane = text.small()?;
    text.take(b'}')?;
    Some(Kernel { func_id, name, core_type, lane })
}

#[inline]
fn arg(text: &mut Quick<'_>) -> Option<DepsArg> {
    text.text("{\"index\":")?;
    let index = text.small()?;
    text.text(",\"access\":")?;
    let access = text.string()?;
    let access = Access::ALL.iter().copied().find(|one| one.as_str() == access)?;
    text.text(",\"tensor\":")?;
    let tensor = TensorIndex(text.small()?);
    text.text(",\"dtype\":")?;
    let dtype: DType = text.string()?.parse().ok()?;
    text.text(",\"shape\":")?;
    let (shape, rank) = sizes(text)?;
    text.text(",\"strides\":")?;
    let (strides, strides_rank) = sizes(text)?;
    text.text(",\"offset\":")?;
    let offset = text.number()?;
    text.take(b'}')?;
    if rank != strides_rank {
        return None;
    }
    let dims: [Dim; MAX_RANK] = std::array::from_fn(|at| Dim { len: shape[at], stride: strides[at] });
    let view = ViewRow::new(dtype, offset, &dims[..rank])?;
    Some(DepsArg { index, access, tensor, view })
}

/// At most as many numbers as a view has dimensions, and how many they are.
#[inline]
fn sizes(text: &mut Quick<'_>) -> Option<([u32; MAX_RANK], usize)> {
    let (mut sizes, mut count) = ([0; MAX_RANK], 0);
    text.list(|text| {
        *sizes.get_mut(count)? = text.small()?;
        count += 1;
        Some(())
    })?;
    Some((sizes, count))
}

#[inline]
pub(super) fn tensor(text: &mut Quick<'_>) -> Option<DepsTensor> {
    text.text("{\"tensor\":")?;
    let tensor = TensorIndex(text.small()?);
    text.text(",\"bytes\":")?;
    let bytes = text.number()?;
    text.text(",\"origin\":")?;
    let origin = Origin::from_name(text.string()?)?;
    text.take(b'}')?;
    Some(DepsTensor { tensor, bytes, origin })
}

#[inline]
pub(super) fn edge(text: &mut Quick<'_>) -> Option<DepsEdge> {
    text.text("{\"pred\":")?;
    let pred = TaskId(text.number()?);
    text.text(",\"succ\":")?;
    let succ = TaskId(text.number()?);
    text.text(",\"source\":")?;
    let source = EdgeSource::from_name(text.string()?)?;
    let cause = match source {
        EdgeSource::Explicit => None,
        EdgeSource::Creator | EdgeSource::TensorMap => Some(cause(text)?),
    };
    text.take(b'}')?;
    Some(DepsEdge { pred, succ, source, cause })
}

#[inline]
fn cause(text: &mut Quick<'_>) -> Option<EdgeCause> {
    text.text(",\"hazard\":")?;
    let hazard = Hazard::from_name(text.string()?)?;
    text.text(",\"arg\":")?;
    let arg = text.small()?;
    text.text(",\"tensor\":")?;
    let tensor = TensorIndex(text.small()?);
    text.text(",\"overlap\":")?;
    let overlap = Overlap::from_name(text.string()?)?;
    Some(EdgeCause { hazard, arg, tensor, overlap })
}

#[cfg(test)]
mod tests;
