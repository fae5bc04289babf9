//! What a submit starts: one kernel, a kernel in many blocks, or up to three kernels on one cluster.

use super::kernel::Kernel;

/// The most kernels that run side by side in one task: one AIC and two AIV.
pub const MAX_LANES: usize = 3;

/// One to three kernels and the number of blocks of each.
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
pub struct Launch {
    pub(crate) lanes: [Option<&'static Kernel>; MAX_LANES],
    pub(crate) blocks: u32,
}

impl Launch {
    /// A mixed task of AIV kernels only, or with an AIC kernel; lane 0 is AIC, 1 and 2 are AIV.
    /// More than two AIV kernels are refused at submit.
    pub fn mixed(aic: Option<&'static Kernel>, aiv: &[&'static Kernel]) -> Self {
        let blocks = if aiv.len() < MAX_LANES { 1 } else { 0 };
        Launch { lanes: [aic, aiv.first().copied(), aiv.get(1).copied()], blocks }
    }

    /// The same kernels, each run `count` times with block index `0..count`.
    pub fn blocks(self, count: u32) -> Self {
        Launch { blocks: if self.blocks == 0 { 0 } else { count }, ..self }
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

    /// The kernels, in the order in which they take arguments.
    pub fn kernels(&self) -> impl Iterator<Item = &'static Kernel> + use<> {
        self.lanes.into_iter().flatten()
    }
}

impl From<&'static Kernel> for Launch {
    #[inline]
    fn from(kernel: &'static Kernel) -> Self {
        Launch { lanes: [Some(kernel), None, None], blocks: 1 }
    }
}
