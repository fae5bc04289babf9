//! The C ABI as a library to link with: everything is in `ringlane-capi`, whose functions this exports.

#[doc(inline)]
pub use ringlane_capi as capi;
