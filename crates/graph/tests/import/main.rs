//! Graphs in every format, imported: what comes out is what went in, and what is wrong is refused by name.

mod generate;
mod limits;
mod malformed;
mod mutations;
mod notations;
mod round_trip;
mod run_dir;

use ringlane_graph::import::{Format, ImportError, ImportOptions, ImportedGraph, read, read_tables};

use generate::File;

/// Imports what a generator made.
fn import(file: &File) -> Result<ImportedGraph, ImportError> {
    import_with(file, &ImportOptions::default())
}

fn import_with(file: &File, options: &ImportOptions) -> Result<ImportedGraph, ImportError> {
    match file.format {
        Format::Csv => read_tables(&file.bytes[..], &file.edges[..], options),
        format => read(format, "input", &file.bytes[..], options),
    }
}
