//! Cost models that several kernels share: what they would do to a chip with known rates.

use ringlane_engine::prelude::*;

/// Work of a product whose first argument is M×K and whose third is M×N: two operations for each of M·N·K.
pub(crate) const PRODUCT: Cost = Cost::Roofline { flops: product_flops, bytes: all_bytes };

/// One operation for each element of each argument: kernels that pass over their data once.
pub(crate) const PASS: Cost = Cost::Roofline { flops: all_elements, bytes: all_bytes };

fn product_flops(args: &Args<'_>) -> f64 {
    let inner = args.tensor(0).and_then(|a| a.len(a.rank().wrapping_sub(1))).unwrap_or(1);
    let results = args.tensor(2).map_or(0, |c| c.elements());
    2.0 * results as f64 * f64::from(inner)
}

fn all_elements(args: &Args<'_>) -> f64 {
    args.tensors().map(|tensor| tensor.elements() as f64).sum()
}

/// The bytes of every argument, each touched once.
pub(crate) fn all_bytes(args: &Args<'_>) -> f64 {
    args.tensors().map(|tensor| tensor.bytes() as f64).sum()
}
