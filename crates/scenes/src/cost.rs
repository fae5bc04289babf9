//! Cost models that several kernels share.

use ringlane_engine::prelude::*;

/// Operations of a product whose first argument is M×K and whose third is M×N: two for each of M·N·K.
pub(crate) const PRODUCT: Cost = Cost::Roofline { flops: product_flops, bytes: all_bytes };

/// One operation for each element of each argument: for kernels that process their data once.
pub(crate) const PASS: Cost = Cost::Roofline { flops: all_elements, bytes: all_bytes };

fn product_flops(args: &Args<'_>) -> f64 {
    let inner = args.tensor(0).and_then(|a| a.len(a.rank().wrapping_sub(1))).unwrap_or(1);
    let results = args.tensor(2).map_or(0, |c| c.elements());
    2.0 * results as f64 * f64::from(inner)
}

fn all_elements(args: &Args<'_>) -> f64 {
    args.tensors().map(|tensor| tensor.elements() as f64).sum()
}

/// The bytes of all arguments, each accessed once.
pub(crate) fn all_bytes(args: &Args<'_>) -> f64 {
    args.tensors().map(|tensor| tensor.bytes() as f64).sum()
}
