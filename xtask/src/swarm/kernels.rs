//! Kernels whose results show what they read, where and in which order.
//!
//! Every kernel folds all elements it reads into a hash, with its salt and block, and mixes that hash into every
//! element it writes, with the value before. So a task that runs too early, too late, twice, never, or on the
//! wrong bytes leaves other bytes, and all that depends on them does too. Some dawdle, some fail, as their
//! [`Meta`] says.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

use ringlane_engine::api::kernel::{CudaBody, Registered};
use ringlane_engine::prelude::*;

use super::cuda::{body, turn};
use super::program::{Fail, Meta, TASK_BITS};
use super::rng::scramble;

/// How often each task's kernels ran, block by block. One program runs at a time.
static RAN: [AtomicU32; 1 << TASK_BITS] = [const { AtomicU32::new(0) }; 1 << TASK_BITS];

/// Forgets what ran.
pub(crate) fn forget(tasks: usize) {
    RAN[..tasks].iter().for_each(|count| count.store(0, Ordering::Relaxed));
}

/// How many blocks of each task ran.
pub(crate) fn ran(tasks: usize) -> Vec<u32> {
    RAN[..tasks].iter().map(|count| count.load(Ordering::Relaxed)).collect()
}

/// One block at work.
pub(crate) struct Job {
    meta: Meta,
    block: Block,
    hash: u64,
}

impl Job {
    /// Begins: is seen to run, may dawdle, may fail.
    pub(crate) fn begin(block: Block, meta: u64) -> Result<Self, KernelError> {
        let meta = Meta::unpack(meta);
        RAN[meta.task as usize].fetch_add(1, Ordering::Relaxed);
        let hash = scramble((meta.salt as u64) << 32 | block.index.0 as u64);
        let job = Job { meta, block, hash };
        if meta.spin_first {
            job.dawdle();
        }
        if !meta.fail_late {
            job.fail()?;
        }
        Ok(job)
    }

    fn dawdle(&self) {
        (0..self.meta.spin as u32 * 4).for_each(|_| std::hint::spin_loop());
    }

    fn fail(&self) -> KernelResult {
        let task = self.meta.task;
        match self.meta.fail {
            Fail::Error => Err(KernelError::new(format_args!("planned failure of task {task}"))),
            Fail::Panic => panic!("planned failure of task {task}"),
            Fail::LastBlock if self.block.index.0 + 1 == self.block.count => {
                Err(KernelError::new(format_args!("planned failure of task {task}")))
            }
            _ => Ok(()),
        }
    }

    /// Takes in everything an argument shows.
    pub(crate) fn read(&mut self, from: &impl Source) {
        from.each(&mut |bits| self.fold(bits));
    }

    /// Takes in one value.
    pub(crate) fn fold(&mut self, bits: u64) {
        self.hash = (self.hash ^ bits).wrapping_mul(0x100_0000_01b3).rotate_left(23);
    }

    /// All is read.
    pub(crate) fn turn(&mut self) {
        if !self.meta.spin_first {
            self.dawdle();
        }
    }

    /// What an element becomes; `None`: it stays.
    pub(crate) fn value(&self, index: u64, old: u64) -> Option<u64> {
        let new = scramble(self.hash ^ old.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index << 48);
        (!self.meta.gaps || new & 3 != 0).then_some(new)
    }

    /// Changes everything an argument shows.
    pub(crate) fn write(&mut self, to: &mut impl Target) {
        let mut index = 0;
        to.each(&mut |old| {
            index += 1;
            self.value(index, old)
        });
    }

    /// Ends: may fail.
    pub(crate) fn end(self) -> KernelResult {
        if self.meta.fail_late { self.fail() } else { Ok(()) }
    }
}

/// A type whose values are made of, and into, bits.
pub(crate) trait Value: Element {
    fn bits(self) -> u64;
    fn of(bits: u64) -> Self;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(impl Value for $ty {
        fn bits(self) -> u64 { self as u64 }
        fn of(bits: u64) -> Self { (bits >> 7) as $ty }
    })*};
}
integers!(u8, i16, u32, u64);

impl Value for f32 {
    fn bits(self) -> u64 {
        self.to_bits() as u64
    }
    fn of(bits: u64) -> Self {
        // 24 bits and a sign: every value is exact, none is a NaN.
        (bits >> 39) as u32 as f32 - (1 << 23) as f32
    }
}

/// What can be read.
pub(crate) trait Source {
    fn each(&self, f: &mut dyn FnMut(u64));
}

/// What can be written.
pub(crate) trait Target {
    fn each(&mut self, f: &mut dyn FnMut(u64) -> Option<u64>);
}

impl<T: Value> Source for &[T] {
    fn each(&self, f: &mut dyn FnMut(u64)) {
        self.iter().for_each(|v| f(v.bits()));
    }
}

impl<T: Value> Target for &mut [T] {
    fn each(&mut self, f: &mut dyn FnMut(u64) -> Option<u64>) {
        for v in self.iter_mut() {
            change(v, f);
        }
    }
}

fn change<T: Value>(value: &mut T, f: &mut dyn FnMut(u64) -> Option<u64>) {
    if let Some(new) = f(value.bits()) {
        *value = T::of(new);
    }
}

/// Calls `f` with every index of a shape, in row-major order.
fn indices<const R: usize>(shape: [usize; R], mut f: impl FnMut([usize; R])) {
    if shape.contains(&0) {
        return;
    }
    let mut at = [0; R];
    loop {
        f(at);
        let Some(axis) = (0..R).rev().find(|&d| at[d] + 1 < shape[d]) else { return };
        at[axis] += 1;
        at[axis + 1..].fill(0);
    }
}

impl<T: Value, const R: usize> Source for View<'_, T, R> {
    fn each(&self, f: &mut dyn FnMut(u64)) {
        indices(self.shape(), |at| f(self[at].bits()));
    }
}

impl<T: Value, const R: usize> Target for ViewMut<'_, T, R> {
    fn each(&mut self, f: &mut dyn FnMut(u64) -> Option<u64>) {
        indices(self.shape(), |at| change(&mut self[at], f));
    }
}

/// Declares kernels: name, core, what they read, what they write. The last argument of each is its [`Meta`].
macro_rules! kernels {
    ($($name:ident $core:ident ($($r:ident: $rt:ty),*) ($($w:ident: $wt:ty),*);)*) => {
        $(static $name: Kernel = {
            fn call(args: &mut Args<'_>) -> KernelResult {
                let block = args.take::<Block>()?;
                $(let $r = args.take::<$rt>()?;)*
                $(let mut $w = args.take::<$wt>()?;)*
                let mut job = Job::begin(block, args.take::<u64>()?)?;
                $(job.read(&$r);)*
                job.turn();
                $(job.write(&mut $w);)*
                job.end()
            }
            const PARAMS: &[ParamSpec] = &[
                <Block as KernelParam<'_>>::SPEC,
                $(<$rt as KernelParam<'_>>::SPEC,)*
                $(<$wt as KernelParam<'_>>::SPEC,)*
                <u64 as KernelParam<'_>>::SPEC,
            ];
            const BODY: CudaBody = body!(["block", $(stringify!($r),)* $(stringify!($w),)* "meta"];
                $("rl_read(", stringify!($r), "); ",)* turn!(), $("rl_write(", stringify!($w), "); ",)*);
            Kernel::new(stringify!($name), CoreType::$core, PARAMS, call).with_cuda(BODY)
        };
        ringlane_engine::inventory::submit! { Registered(&$name) })*
        /// Kernels of one to three tensors.
        pub(crate) static PLAIN: &[&Kernel] = &[$(&$name),*];
    };
}

kernels! {
    W_U8 Aiv () (w: &mut [u8]);
    W_U32 Any () (w: &mut [u32]);
    RW_U8 Aiv (r: &[u8]) (w: &mut [u8]);
    RW_I16 Aic (r: &[i16]) (w: &mut [i16]);
    RW_U32 Any (r: &[u32]) (w: &mut [u32]);
    RW_U64 Aic (r: &[u64]) (w: &mut [u64]);
    RRW_F32 Aiv (r: &[f32], s: &[f32]) (w: &mut [f32]);
    RWW_U32 Aic (r: &[u32]) (w: &mut [u32], x: &mut [u32]);
    VW_F32 Aiv (r: View<'_, f32, 2>) (w: &mut [f32]);
    VW_U8 Any (r: View<'_, u8, 2>) (w: &mut [u8]);
    VM_U32 Aiv (r: View<'_, u32, 2>) (w: ViewMut<'_, u32, 2>);
    VM_U8 Aic (r: View<'_, u8, 2>) (w: ViewMut<'_, u8, 2>);
    VM_I16 Any (r: View<'_, i16, 3>) (w: ViewMut<'_, i16, 2>);
    VVM_F32 Aic (r: View<'_, f32, 2>, s: View<'_, f32, 1>) (w: ViewMut<'_, f32, 2>);
    M_U32 Any () (w: ViewMut<'_, u32, 1>);
    TILE_U32 Any () (w: ViewMut<'_, u32, 2>);
    M_F32 Any () (w: ViewMut<'_, f32, 3>);
    MM_U64 Aiv (r: View<'_, u64, 1>) (w: ViewMut<'_, u64, 2>, x: ViewMut<'_, u64, 1>);
    CROSS Any (r: &[u8], s: View<'_, f32, 2>) (w: &mut [u32]);
    CROSS_BACK Any (r: View<'_, u32, 1>, s: &[i16]) (w: ViewMut<'_, u8, 1>, x: &mut [u64]);
    TYPED Any (r: &[u32], a: f32, b: i8, c: bool, d: u16) (w: &mut [u32]);
    READER Any (r: View<'_, u32, 2>) ();
}

macro_rules! scalar_sources {
    ($($ty:ty => $bits:expr),* $(,)?) => {$(impl Source for $ty {
        fn each(&self, f: &mut dyn FnMut(u64)) {
            let bits: fn(&$ty) -> u64 = $bits;
            f(bits(self));
        }
    })*};
}
scalar_sources!(f32 => |v| v.to_bits() as u64, i8 => |v| *v as u64, bool => |v| *v as u64, u16 => |v| *v as u64);

/// Tensors that the two kernels of many arguments read and write, and scalars they take besides their [`Meta`].
const SOME: [usize; 3] = [12, 4, 3];
const MOST: [usize; 3] = [64, 6, 63];

fn many<T: Value>(args: &mut Args<'_>, [reads, writes, scalars]: [usize; 3]) -> KernelResult
where
    for<'a> &'a [T]: KernelParam<'a>,
    for<'a> &'a mut [T]: KernelParam<'a>,
{
    let block = args.take::<Block>()?;
    let sources = (0..reads).map(|_| args.take::<&[T]>()).collect::<Result<Vec<_>, _>>()?;
    let mut targets = (0..writes).map(|_| args.take::<&mut [T]>()).collect::<Result<Vec<_>, _>>()?;
    let values = (0..scalars).map(|_| args.take::<u16>()).collect::<Result<Vec<_>, _>>()?;
    let mut job = Job::begin(block, args.take::<u64>()?)?;
    sources.iter().for_each(|source| job.read(source));
    values.iter().for_each(|value| job.read(value));
    job.turn();
    targets.iter_mut().for_each(|target| job.write(target));
    job.end()
}

const fn many_params<const N: usize>(
    read: ParamSpec,
    write: ParamSpec,
    counts: [usize; 3],
) -> [ParamSpec; N] {
    let mut params = [<u16 as KernelParam<'_>>::SPEC; N];
    let mut i = 1;
    while i <= counts[0] + counts[1] {
        params[i] = if i <= counts[0] { read } else { write };
        i += 1;
    }
    params[0] = <Block as KernelParam<'_>>::SPEC;
    params[N - 1] = <u64 as KernelParam<'_>>::SPEC;
    params
}

/// The body of such a kernel takes its arguments itself, without names.
macro_rules! many_body {
    ($element:literal, $reads:literal, $writes:literal, $scalars:literal) => {{
        const BODY: CudaBody = CudaBody {
            source: concat!(
                "rl_args rl_at = rl_given, rl_last = rl_given; typedef rl_rest<u64> rl_all; ",
                "for (u32 k = 0; k < ",
                $reads,
                " + ",
                $writes,
                " + ",
                $scalars,
                "; k++) rl_all::rl_skip(rl_last); ",
                "const rl_block block = rl_take<rl_block>::from(rl_given); ",
                "const u64 meta = rl_take<uint64_t>::from(rl_last); ",
                super::cuda::begin!(),
                "for (u32 k = 0; k < ",
                $reads,
                "; k++) rl_read(rl_take<rl_slice<const ",
                $element,
                ">>::from(rl_at)); ",
                "rl_args rl_to = rl_at; for (u32 k = 0; k < ",
                $writes,
                "; k++) rl_all::rl_skip(rl_at); ",
                "for (u32 k = 0; k < ",
                $scalars,
                "; k++) rl_read(rl_take<uint16_t>::from(rl_at)); ",
                turn!(),
                "for (u32 k = 0; k < ",
                $writes,
                "; k++) rl_write(rl_take<rl_slice<",
                $element,
                ">>::from(rl_to)); ",
                super::cuda::end!(),
            ),
            params: &[],
            file: file!(),
            line: line!(),
        };
        BODY
    }};
}

static SOME_PARAMS: [ParamSpec; 21] = many_params(<&[u32]>::SPEC, <&mut [u32]>::SPEC, SOME);
static MOST_PARAMS: [ParamSpec; 135] = many_params(<&[u8]>::SPEC, <&mut [u8]>::SPEC, MOST);
static SOME_U32: Kernel =
    Kernel::new("SOME_U32", CoreType::Any, &SOME_PARAMS, |args| many::<u32>(args, SOME))
        .with_cuda(many_body!("uint32_t", "12", "4", "3"));
static MOST_U8: Kernel = Kernel::new("MOST_U8", CoreType::Any, &MOST_PARAMS, |args| many::<u8>(args, MOST))
    .with_cuda(many_body!("uint8_t", "64", "6", "63"));
ringlane_engine::inventory::submit! { Registered(&SOME_U32) }
ringlane_engine::inventory::submit! { Registered(&MOST_U8) }

/// Declares kernels that take any number of tensors: name, core, what they write, and what each of the others is.
macro_rules! rest_kernels {
    ($($name:ident $core:ident ($wt:ty) ($rt:ty);)*) => {$(
        static $name: Kernel = {
            fn call(args: &mut Args<'_>) -> KernelResult {
                let block = args.take::<Block>()?;
                let mut target = args.take::<$wt>()?;
                let mut job = Job::begin(block, args.take::<u64>()?)?;
                args.take::<Rest<'_, $rt>>()?.for_each(|source| job.read(&source));
                job.turn();
                job.write(&mut target);
                job.end()
            }
            const PARAMS: &[ParamSpec] = &[
                <Block as KernelParam<'_>>::SPEC,
                <$wt as KernelParam<'_>>::SPEC,
                <u64 as KernelParam<'_>>::SPEC,
                <Rest<'_, $rt> as KernelParam<'_>>::SPEC,
            ];
            const BODY: CudaBody = body!(["block", "to", "meta", "all"];
                "for (u32 k = 0; k < all.len(); k++) rl_read(all[k]); ", turn!(), "rl_write(to); ",);
            Kernel::new(stringify!($name), CoreType::$core, PARAMS, call).with_cuda(BODY)
        };
        ringlane_engine::inventory::submit! { Registered(&$name) }
    )*};
}

rest_kernels! {
    REST_U32 Any (&mut [u32]) (&[u32]);
    REST_F32 Aiv (ViewMut<'_, f32, 2>) (View<'_, f32, 2>);
}

/// Kernels of many arguments; from [`FIRST_REST`] on, of any number.
pub(crate) static LARGE: &[&Kernel] = &[&SOME_U32, &MOST_U8, &REST_U32, &REST_F32];
pub(crate) const FIRST_REST: usize = 2;

/// The kernel at a place of the one list of all: plain ones, large ones, then those that share.
pub(crate) fn kernel(index: usize) -> &'static Kernel {
    let shared = &super::raw::SHARED;
    PLAIN.iter().chain(LARGE).chain(*shared).nth(index).expect("the generator counts the same lists")
}
