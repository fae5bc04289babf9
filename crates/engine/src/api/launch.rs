//! What a submit starts: one kernel, a kernel in many blocks, or up to three kernels on one cluster.

#![forbid(unsafe_code)]

use core::time::Duration;

use super::annotations::Annotations;
use super::kernel::Kernel;

/// The most kernels that run side by side in one task: one AIC and two AIV.
pub const MAX_LANES: usize = 3;

/// One to three kernels and the number of blocks of each; if asked for, a name and a duration of the task.
///
/// ```
/// use ringlane_engine::prelude::*;
/// kernel! { static CUBE = aic fn(x: &[f32], y: &mut [f32]) { y[0] = x[0].powi(3); } }
/// kernel! { static NEGATE = aiv fn(x: &[f32], y: &mut [f32]) { y[0] = -x[0]; } }
/// let spmd = CUBE.blocks(8);
/// let mixed = CUBE.mixed(&[&NEGATE, &NEGATE]); // arguments: those of CUBE, then of each NEGATE
/// assert_eq!((spmd.block_count(), mixed.kernels().count()), (8, 3));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    pub(crate) lanes: [Option<&'static Kernel>; MAX_LANES],
    pub(crate) blocks: u32,
    pub(crate) annotations: Annotations<'a>,
}

impl<'a> Launch<'a> {
    /// A mixed task of AIV kernels only, or with an AIC kernel; lane 0 is AIC, 1 and 2 are AIV.
    /// More than two AIV kernels are refused at submit.
    pub fn mixed(aic: Option<&'static Kernel>, aiv: &[&'static Kernel]) -> Self {
        let blocks = if aiv.len() < MAX_LANES { 1 } else { 0 };
        let lanes = [aic, aiv.first().copied(), aiv.get(1).copied()];
        Launch { lanes, blocks, annotations: Annotations::default() }
    }

    /// The same kernels, each run `count` times with block index `0..count`.
    pub fn blocks(self, count: u32) -> Self {
        Launch { blocks: if self.blocks == 0 { 0 } else { count }, ..self }
    }

    /// The same as a task with a name: errors, `deps.json`, `ringlane critical-path` and the report show it beside the kernel's.
    /// It is copied, and cut after [`LABEL_BYTES_MAX`](crate::limits::LABEL_BYTES_MAX) bytes.
    ///
    /// ```
    /// use ringlane_engine::prelude::*;
    /// kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// for layer in 0..3u32 {
    ///     o.submit(SET.labelled(&format!("layer {layer}")), [out(u32, [4]), scalar(layer)])?;
    /// }
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    pub fn labelled<'b>(self, label: &'b str) -> Launch<'b>
    where
        'a: 'b,
    {
        Launch { annotations: self.annotations.with_label(label), ..self }
    }

    /// The same as a task each of whose blocks takes this long on a modelled chip, whatever its kernel's cost model says;
    /// only a recorded cost (`--costs`) goes before it. Other chips ignore it: there a block takes the time it takes.
    ///
    /// ```
    /// use core::time::Duration;
    /// use ringlane_engine::prelude::*;
    /// kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let launch = SET.taking(Duration::from_micros(40)).labelled("warm-up");
    /// o.submit(launch, [out(u32, [4]), scalar(1u32)])?;
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    pub fn taking(self, duration: Duration) -> Self {
        Launch { annotations: self.annotations.with_duration(duration), ..self }
    }

    /// The task's name and duration.
    #[inline]
    pub fn annotations(&self) -> &Annotations<'a> {
        &self.annotations
    }

    /// Number of blocks of each kernel.
    pub fn block_count(&self) -> u32 {
        self.blocks
    }

    /// The kernel of a launch with just one, on lane 0.
    #[inline]
    pub(crate) fn single(&self) -> Option<&'static Kernel> {
        if self.lanes[1].is_none() && self.lanes[2].is_none() { self.lanes[0] } else { None }
    }

    /// The kernel of a launch with just one, in one block and without annotations.
    #[inline]
    pub(crate) fn plain(&self) -> Option<&'static Kernel> {
        if self.blocks == 1 && self.annotations.is_empty() { self.single() } else { None }
    }

    /// The name of its first kernel.
    pub(crate) fn first_name(&self) -> &'static str {
        self.kernels().next().map_or("", Kernel::name)
    }

    /// The kernels, in the order in which they take arguments.
    pub fn kernels(&self) -> impl Iterator<Item = &'static Kernel> + use<> {
        self.lanes.into_iter().flatten()
    }
}

impl From<&'static Kernel> for Launch<'_> {
    #[inline]
    fn from(kernel: &'static Kernel) -> Self {
        Launch { lanes: [Some(kernel), None, None], blocks: 1, annotations: Annotations::default() }
    }
}
