//! What tasks of Python programs run: Python functions, and functions of C by their address.

pub mod array;
pub mod cost;
pub mod native;
pub mod python;
pub mod running;
pub mod shown;
