//! Cost models that several kernels share: what they would do to a chip with known rates.

use ringlane_engine::prelude::*;

/// Work of a product whose first argument is M×K and whose third is M×N: two operations for each of M·N·K.
pub(crate) const PRODUCT: Cost = Cost::Roofline { flops: product_flops, bytes: all_bytes };

/// One operation for each element of each argument: kernels that pass over their data once.
pub(crate) const PASS: Cost = Cost::Roofline { flops: all_elements, bytes: all_bytes };

fn product_flops(args: &Args<'_>) -> f64 {
    let views = args.views();
    let inner = views[0].dims().last().map_or(1, |dim| dim.len);
    2.0 * views[2].elements() as f64 * inner as f64
}

fn all_elements(args: &Args<'_>) -> f64 {
    args.views().iter().map(|view| view.elements() as f64).sum()
}

fn all_bytes(args: &Args<'_>) -> f64 {
    args.views().iter().map(|view| view.bytes() as f64).sum()
}
