//! Programs that are known only at run time, against the oracle: handles, scopes, kernels, lent memory.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use ringlane_task::{Access, Scalar};

use super::*;
use crate::api::buffers::Permission;
use crate::limits::SCOPE_DEPTH_MAX;
use crate::oracle;
use crate::prelude::*;

kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
kernel! { static COPY = any fn(x: View<u32, 1>, y: &mut [u32]) {
    y.iter_mut().enumerate().for_each(|(i, y)| *y = x[[i]]);
} }

fn set(d: &mut DynOrch<'_>, to: u32) -> Result<DynTensor> {
    let mut submission = d.submit(&SET);
    submission.output(DType::UInt32, &[4], None)?;
    submission.value(to)?;
    Ok(submission.send()?.outs().next().expect("one output"))
}

fn dynamic<R>(f: impl FnOnce(&mut DynOrch<'_>) -> Result<R>) -> Result<R> {
    oracle::run(&mut Buffers::new(), |o| o.dynamic(f))
}

#[test]
fn a_handle_is_stale_after_its_scope_in_the_next_scope_and_in_the_next_run() {
    let kept = Cell::new(DynTensor::default());
    dynamic(|d| {
        d.begin_scope(Some("inner"))?;
        let made = set(d, 7)?;
        assert_eq!(d.read_values::<u32>(&made)?, [7; 4]);
        d.end_scope()?;
        assert_eq!(d.read_values::<u32>(&made).unwrap_err().name(), "StaleHandle");
        d.begin_scope(None)?;
        let error = d.submit(&SET).write(&made).unwrap_err();
        assert_eq!(error.name(), "StaleHandle");
        assert!(error.to_string().contains("at its depth, 1, is scope"), "{error}");
        d.end_scope()?;
        kept.set(set(d, 1)?);
        assert_eq!(d.read_values::<u32>(&DynTensor::default()).unwrap_err().name(), "StaleHandle");
        Ok(())
    })
    .unwrap();
    let error = dynamic(|d| d.read_values::<u32>(&kept.get())).unwrap_err();
    assert_eq!(error.name(), "StaleHandle");
}

#[test]
fn a_task_of_a_scope_that_ended_cannot_be_followed() {
    dynamic(|d| {
        d.begin_scope(None)?;
        let task = d.barrier()?;
        d.submit(&SET).after(&task)?;
        d.end_scope()?;
        assert_eq!(d.submit(&SET).after(&task).unwrap_err().name(), "StaleHandle");
        assert_eq!(d.submit(&SET).after(&DynTask::default()).unwrap_err().name(), "StaleHandle");
        Ok(())
    })
    .unwrap();
}

#[test]
fn scopes_end_once_and_those_left_open_are_ended_with_an_error() {
    assert_eq!(dynamic(|d| d.end_scope()).unwrap_err().name(), "NoOpenScope");
    let open = |d: &mut DynOrch<'_>| (0..3).try_for_each(|_| d.begin_scope(None));
    let error = dynamic(open).unwrap_err();
    assert_eq!((error.name(), error.to_string().contains("3 open")), ("ScopeNotEnded", true));
    // The program's own error counts more.
    let error = dynamic(|d| open(d).and(Err::<(), _>(Error::user("mine")))).unwrap_err();
    assert_eq!(error.name(), "UserError");
    // After a program, the scopes of the one around it are as before.
    oracle::run(&mut Buffers::new(), |o| {
        let before = o.alloc(u32, [1])?;
        o.dynamic(open).unwrap_err();
        o.read::<u32>(before).map(drop)
    })
    .unwrap();
}

#[test]
fn scopes_that_are_nested_too_deeply_are_refused() {
    let error = dynamic(|d| (0..SCOPE_DEPTH_MAX).try_for_each(|_| d.begin_scope(None))).unwrap_err();
    assert_eq!(error.name(), "TooDeep");
    dynamic(|d| {
        (1..SCOPE_DEPTH_MAX).try_for_each(|_| d.begin_scope(None))?;
        (1..SCOPE_DEPTH_MAX).try_for_each(|_| d.end_scope())
    })
    .unwrap();
}

#[test]
fn a_kernel_made_at_run_time_sees_every_argument_as_it_is() {
    let params = vec![View::<u32, 2>::SPEC, <f32>::SPEC, <&mut [u32]>::SPEC];
    let sum = DynKernel::new("SUM_OF_VIEW", CoreType::Aiv, params, |args| {
        let Some(AnyArg::Tensor(x)) = args.next_any() else { return Err(KernelError::new("no tensor")) };
        let Some(AnyArg::Scalar(a)) = args.next_any() else { return Err(KernelError::new("no scalar")) };
        let Some(AnyArg::Tensor(y)) = args.next_any() else { return Err(KernelError::new("no output")) };
        assert!(args.next_any().is_none());
        assert!(!x.is_writable() && y.is_writable());
        assert_eq!((x.dtype(), y.dims().len()), (DType::UInt32, 1));
        let [rows, columns] = x.dims() else { return Err(KernelError::new("not a matrix")) };
        let at = |i: u32, j: u32| (i * rows.stride + j * columns.stride) as usize;
        let cells = (0..rows.len).flat_map(|i| (0..columns.len).map(move |j| (i, j)));
        // SAFETY: inside the view, which is read.
        let total: u32 = cells.map(|(i, j)| unsafe { *x.data().cast::<u32>().add(at(i, j)) }).sum();
        let factor = a.get::<f32>().unwrap_or_default();
        // SAFETY: the output has an element, and is this task's alone.
        unsafe { *y.data().cast::<u32>() = (total as f32 * factor) as u32 };
        Ok(())
    })
    .build()
    .unwrap();
    let mut data = Buffers::new();
    let x = data.add(&[2, 3], &[1u32, 2, 3, 4, 5, 6]).unwrap();
    let total = oracle::run(&mut data, |o| {
        o.dynamic(|d| {
            let x = d.external(x)?.transpose(0, 1)?.slice(0, 1, 2)?;
            let mut submission = d.submit(sum);
            submission.read(&x)?;
            submission.scalar(Scalar::new(10f32))?;
            submission.output(DType::UInt32, &[1], None)?;
            let total = submission.send()?.outs().next().expect("one output");
            d.show(&total, |bytes| u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
        })
    });
    assert_eq!(total.unwrap(), (2 + 3 + 5 + 6) * 10);
}

#[test]
fn a_kernels_own_data_and_error_reach_the_run() {
    let calls = std::sync::Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let kernel = DynKernel::new("FAILS", CoreType::Any, vec![<&mut [u32]>::SPEC], move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Err(KernelError::new("as asked"))
    });
    let kernel = kernel.build().unwrap();
    let error = dynamic(|d| {
        let mut submission = d.submit(kernel);
        submission.output(DType::UInt32, &[1], None)?;
        let made = submission.send()?.outs().next().expect("one output");
        d.read_values::<u32>(&made)
    });
    let error = error.unwrap_err();
    assert_eq!((error.name(), calls.load(Ordering::Relaxed)), ("TaskFailed", 1));
    assert!(error.to_string().contains("FAILS") && error.to_string().contains("as asked"), "{error}");
}

#[test]
fn a_kernel_that_no_submit_could_run_is_refused() {
    let name = |kernel: DynKernel| kernel.build().unwrap_err().name();
    let spec = <&[u32]>::SPEC;
    assert_eq!(name(DynKernel::new("", CoreType::Any, vec![spec], |_| Ok(()))), "BadKernel");
    assert_eq!(name(DynKernel::new("R", CoreType::Any, vec![spec.rest(), spec], |_| Ok(()))), "BadKernel");
    assert_eq!(name(DynKernel::new("M", CoreType::Any, vec![spec; 1000], |_| Ok(()))), "BadKernel");
    let cuda = CudaText { source: "y[0] = 1;".to_string(), ..CudaText::default() };
    assert_eq!(name(DynKernel::new("C", CoreType::Any, vec![spec], |_| Ok(())).cuda(cuda)), "BadKernel");
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_submitted() {
    dynamic(|d| {
        let x = set(d, 1)?;
        let accesses = [Access::Output, Access::NoDep];
        let refused = accesses.map(|access| d.submit(&SET).tensor(&x, access, None).unwrap_err().name());
        assert_eq!(refused, ["BadAccess"; 2]);
        assert_eq!(d.submit(&SET).tensor(&x, Access::InOut, Some(255)).unwrap_err().name(), "BadSplit");
        assert_eq!(d.submit(&SET).output(DType::UInt32, &[0], None).unwrap_err().name(), "EmptyView");
        assert_eq!(d.submit(&SET).send().err().map(|error| error.name()), Some("ArgCount"));
        let mut wrong = d.submit(&SET);
        wrong.write(&x)?;
        wrong.value(1f32)?;
        assert_eq!(wrong.send().err().map(|error| error.name()), Some("ArgDType"));
        assert_eq!(d.read(&x, &mut [0; 3]).unwrap_err().name(), "ByteCount");
        assert_eq!(d.upload(DType::UInt32, &[2], &[0; 7]).unwrap_err().name(), "ByteCount");
        assert_eq!(d.upload(DType::Bool, &[2], &[1, 2]).unwrap_err().name(), "BadBool");
        assert_eq!(x.tile(&[0], &[5]).unwrap_err().name(), "ViewOutOfBounds");
        assert_eq!(d.read_values::<u32>(&x)?, [1; 4]);
        Ok(())
    })
    .unwrap();
}

#[test]
fn lent_memory_with_gaps_is_read_and_written_where_it_is() {
    let mut values = [0u32, 1, 2, 3, 4, 5, 6, 7];
    let base = values.as_mut_ptr().cast::<u8>();
    let mut data = Buffers::new();
    // SAFETY: every second element of `values`, which nobody else uses before the results are read.
    let even = unsafe { data.lend_strided(base, DType::UInt32, &[4], &[2], Permission::ReadWrite) }.unwrap();
    assert_eq!(data.get::<u32>(even).unwrap_err().name(), "NotInOnePiece");
    // SAFETY: refused before any access; so below.
    let other = unsafe { data.lend_strided(base.add(4), DType::UInt32, &[3], &[2], Permission::Read) };
    assert_eq!(other.unwrap_err().name(), "BufferOverlap");
    // SAFETY: as above.
    let odd =
        unsafe { data.lend_strided(base.wrapping_add(33), DType::UInt32, &[1], &[1], Permission::Read) };
    assert_eq!(odd.unwrap_err().name(), "MisalignedView");
    // SAFETY: as above.
    let ranks = unsafe { data.lend_strided(base, DType::UInt32, &[1, 1], &[1], Permission::Read) };
    assert_eq!(ranks.unwrap_err().name(), "RankMismatch");
    let read = oracle::run(&mut data, |o| {
        o.dynamic(|d| {
            let even = d.external(even)?;
            let mut copy = d.submit(&COPY);
            copy.read(&even)?;
            copy.output(DType::UInt32, &[4], None)?;
            let copied = copy.send()?.outs().next().expect("one output");
            let mut contiguous = d.submit(&SET);
            contiguous.write(&even)?;
            contiguous.value(9u32)?;
            assert_eq!(contiguous.send().err().map(|error| error.name()), Some("NotContiguous"));
            let mut one = d.submit(&SET);
            one.write(&even.slice(0, 1, 1)?)?;
            one.value(9u32)?;
            one.send()?;
            d.read_values::<u32>(&copied)
        })
    });
    assert_eq!(read.unwrap(), [0, 2, 4, 6]);
    drop(data);
    assert_eq!(values, [0, 1, 9, 3, 4, 5, 6, 7]);
}
