//! One task with its arguments: run by the Rust body, and by the CUDA body on a copy of the same bytes.
#![forbid(unsafe_code)]

use ringlane_engine::alone::{AloneArg, TaskAlone};
use ringlane_engine::api::kernel::registered_kernels;
use ringlane_task::{Access, DType, Scalar, TensorView, bf16};

use super::library::{Library, Threads};

/// The value of an element: of its row, its column (of a tensor of one dimension: 0 and its number) and a random number in
/// -1..1.
pub type Fill = fn(u32, u32, f64) -> f64;

/// A tensor argument.
#[derive(Clone, Copy)]
pub struct Tensor {
    access: Access,
    dtype: DType,
    shape: &'static [u32],
    fill: Fill,
    split: Option<u8>,
    margin: Option<Margin>,
}

/// What is around a tile in the larger tensor, in its first two dimensions: before it, and in all.
#[derive(Clone, Copy)]
struct Margin {
    before: [u32; 2],
    all: [u32; 2],
}

/// An argument.
#[derive(Clone, Copy)]
pub enum Given {
    T(Tensor),
    S(Scalar),
}

const RANDOM: Fill = |_, _, random| random;

const fn tensor(access: Access, shape: &'static [u32], dtype: DType) -> Tensor {
    // Outputs are filled, too: a body must not count on zeros.
    Tensor { access, dtype, shape, fill: RANDOM, split: None, margin: None }
}

/// Random numbers to read.
pub const fn read(shape: &'static [u32]) -> Tensor {
    tensor(Access::Input, shape, DType::Float32)
}

/// Numbers to update.
pub const fn inout(shape: &'static [u32]) -> Tensor {
    tensor(Access::InOut, shape, DType::Float32)
}

/// Numbers to write.
pub const fn write(shape: &'static [u32]) -> Tensor {
    tensor(Access::OutputExisting, shape, DType::Float32)
}

/// A scalar.
pub fn scalar<T: ringlane_task::Element>(value: T) -> Given {
    Given::S(Scalar::new(value))
}

impl Tensor {
    pub const fn of(self, dtype: DType) -> Self {
        Tensor { dtype, ..self }
    }
    pub const fn filled(self, fill: Fill) -> Self {
        Tensor { fill, ..self }
    }
    /// Split among the blocks, by rows.
    pub const fn split(self) -> Self {
        Tensor { split: Some(0), ..self }
    }
    /// A tile inside of a larger tensor.
    pub const fn inside(self) -> Self {
        Tensor { margin: Some(Margin { before: [1, 2], all: [2, 3] }), ..self }
    }
    /// The left columns of a wider tensor.
    pub const fn left_of(self, cols: u32) -> Self {
        Tensor { margin: Some(Margin { before: [0, 0], all: [0, cols] }), ..self }
    }

    fn view(&self) -> (u64, TensorView) {
        let Margin { before, all } = self.margin.unwrap_or(Margin { before: [0, 0], all: [0, 0] });
        let of_all = |sizes: [u32; 2]| sizes.into_iter().chain(core::iter::repeat(0)).take(self.shape.len());
        let larger: Vec<u32> = self.shape.iter().zip(of_all(all)).map(|(len, margin)| len + margin).collect();
        let whole = TensorView::contiguous(self.dtype, &larger).unwrap();
        let start: Vec<u32> = of_all(before).collect();
        (whole.bytes(), whole.tile(&start, self.shape).unwrap())
    }

    fn bytes(&self, random: &mut u64) -> Vec<u8> {
        let cols = *self.shape.last().unwrap();
        let values = (0..self.shape.iter().product()).map(|at: u32| {
            *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.fill)(at / cols, at % cols, (*random >> 33) as f64 / f64::from(1 << 30) - 1.0)
        });
        match self.dtype {
            DType::Float32 => values.flat_map(|x| (x as f32).to_le_bytes()).collect(),
            DType::BFloat16 => values.flat_map(|x| bf16::from_f64(x).to_le_bytes()).collect(),
            DType::Int32 => values.flat_map(|x| (x as i32).to_le_bytes()).collect(),
            DType::UInt32 => values.flat_map(|x| ((x * 2e9) as i64 as u32).to_le_bytes()).collect(),
            DType::UInt8 => values.map(|x| x as u8).collect(),
            other => panic!("no case has a tensor of {other}"),
        }
    }
}

/// What a comparison with a tolerance needs.
trait Floats {
    /// The values of these bytes, if they are floating-point numbers.
    fn floats(self, bytes: &[u8]) -> Option<Vec<f32>>;
}

impl Floats for DType {
    fn floats(self, bytes: &[u8]) -> Option<Vec<f32>> {
        match self {
            DType::Float32 => {
                Some(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
            }
            DType::BFloat16 => {
                Some(bytes.as_chunks().0.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect())
            }
            _ => None,
        }
    }
}

impl From<Tensor> for Given {
    fn from(tensor: Tensor) -> Self {
        Given::T(tensor)
    }
}

/// A task.
pub struct Case {
    pub kernel: &'static str,
    pub blocks: u32,
    pub tolerance: f64,
    pub args: Vec<Given>,
}

/// The bytes of each tensor argument after a run, or why it failed.
type Outcome = Result<Vec<Vec<u8>>, String>;

impl Case {
    fn tensors(&self) -> impl Iterator<Item = Tensor> {
        self.args.iter().filter_map(|arg| if let Given::T(tensor) = arg { Some(*tensor) } else { None })
    }

    /// What the Rust body computes.
    pub fn rust(&self) -> Outcome {
        let sizes: Vec<u64> = self.tensors().map(|tensor| tensor.view().0).collect();
        let mut at = 0;
        let args = self.args.iter().map(|given| match *given {
            Given::S(scalar) => AloneArg::Scalar(scalar),
            Given::T(Tensor { access, split, .. }) => {
                at += 1;
                let view = self.tensors().nth(at - 1).unwrap().view().1;
                AloneArg::Tensor { tensor: at - 1, view, access, split }
            }
        });
        let args: Vec<AloneArg> = args.collect();
        let kernel = registered_kernels().into_iter().find(|kernel| kernel.name() == self.kernel).unwrap();
        let mut task = TaskAlone::new(&kernel.blocks(self.blocks), &sizes, &args).unwrap();
        let mut random = 1;
        let places: Vec<usize> = (0..args.len()).filter(|&at| matches!(self.args[at], Given::T(_))).collect();
        for (&at, tensor) in places.iter().zip(self.tensors()) {
            task.write(at, &tensor.bytes(&mut random)).unwrap();
        }
        task.run().map_err(|error| error.0)?;
        Ok(places.iter().map(|&at| task.read(at)).collect())
    }

    /// What the CUDA body computes. Nothing outside of the views may change.
    pub fn cuda(&self, library: &Library, threads: Threads) -> Outcome {
        const AROUND: u8 = 0xa5;
        let mut random = 1;
        let (mut memory, views): (Vec<Vec<u64>>, Vec<TensorView>) = self
            .tensors()
            .map(|tensor| {
                let (bytes, view) = tensor.view();
                let mut all = vec![AROUND; bytes.next_multiple_of(8) as usize];
                let mut rest = &tensor.bytes(&mut random)[..];
                view.for_each_run(|start, len| {
                    let (run, after) = rest.split_at(len as usize);
                    all[start as usize..][..len as usize].copy_from_slice(run);
                    rest = after;
                });
                (all.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect(), view)
            })
            .unzip();
        library.run(self.kernel, &self.words(), &mut memory, self.blocks, threads)?;
        let mut outcome = Vec::new();
        for (words, view) in memory.iter().zip(views) {
            let mut all: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let mut own = Vec::new();
            view.for_each_run(|start, len| {
                let run = &mut all[start as usize..][..len as usize];
                own.extend_from_slice(run);
                run.fill(AROUND);
            });
            assert!(all.iter().all(|&byte| byte == AROUND), "{}: written outside of a view", self.kernel);
            outcome.push(own);
        }
        Ok(outcome)
    }

    /// The argument records, as crates/engine/src/api/args.rs writes them.
    fn words(&self) -> Vec<u64> {
        let (mut words, mut space) = (Vec::new(), 0);
        for given in &self.args {
            match given {
                Given::S(scalar) => words.extend([2 << 40 | (scalar.dtype() as u64) << 8, scalar.bits()]),
                Given::T(tensor) => {
                    let view = tensor.view().1;
                    let (access, split) = (tensor.access as u64, u64::from(tensor.split.unwrap_or(255)));
                    let head = u64::from(view.signature()) | access << 24 | split << 32 | 1 << 40;
                    words.extend([head, space, view.offset_bytes()]);
                    words.extend(
                        view.dims().iter().map(|dim| u64::from(dim.len) | u64::from(dim.stride) << 32),
                    );
                    space += 1;
                }
            }
        }
        words
    }

    /// The first difference between two outcomes that is larger than the tolerance.
    pub fn difference(&self, want: &Outcome, got: &Outcome) -> Option<String> {
        let (want, got) = match (want, got) {
            (Ok(want), Ok(got)) => (want, got),
            (Err(_), Err(_)) => return None,
            _ => return Some(format!("{:?} instead of {:?}", got.as_ref().err(), want.as_ref().err())),
        };
        for (at, (tensor, (want, got))) in self.tensors().zip(want.iter().zip(got)).enumerate() {
            let (bytes, floats) =
                (tensor.dtype.size_bytes(), (tensor.dtype.floats(want), tensor.dtype.floats(got)));
            let differs = |(want, got): (&f32, &f32)| {
                let close = f64::from(want - got).abs() <= self.tolerance;
                want.to_bits() != got.to_bits() && !close
            };
            let position = match floats {
                (Some(want), Some(got)) => want.iter().zip(&got).position(differs),
                _ => want.iter().zip(got).position(|(want, got)| want != got).map(|byte| byte / bytes),
            };
            if let Some(element) = position {
                let value = |all: &[u8]| match tensor.dtype.floats(all) {
                    Some(values) => values[element].to_string(),
                    None => format!("{:?}", &all[element * bytes..][..bytes]),
                };
                return Some(format!(
                    "tensor {at}, element {element}: {} instead of {}",
                    value(got),
                    value(want)
                ));
            }
        }
        None
    }
}
