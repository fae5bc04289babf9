//! Errors of `ringlane dump`.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use ringlane_task::Explain;
use ringlane_trace::{describe_os_error, os_hint};

/// Why captured arguments are not shown, exported or compared.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The filters match nothing.
    NothingSelected { there: String },
    /// A file cannot be written.
    CannotExport { path: PathBuf, source: io::Error },
    /// Two runs are not of one program.
    NotComparable { what: String, hint: &'static str },
}

ringlane_task::display_explained!(DumpError);

impl Explain for DumpError {
    fn name(&self) -> &'static str {
        match self {
            DumpError::NothingSelected { .. } => "NothingSelected",
            DumpError::CannotExport { .. } => "CannotExport",
            DumpError::NotComparable { .. } => "NotComparable",
        }
    }

    fn summary(&self) -> String {
        match self {
            DumpError::NothingSelected { .. } => "no captured argument matches all filters",
            DumpError::CannotExport { .. } => "an argument cannot be exported",
            DumpError::NotComparable { .. } => "the two runs cannot be compared",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            DumpError::NothingSelected { there } => there.clone(),
            DumpError::CannotExport { path, source } => {
                format!("{}: {}", path.display(), describe_os_error(source))
            }
            DumpError::NotComparable { what, .. } => what.clone(),
        }
    }

    fn hint(&self) -> String {
        match self {
            DumpError::NothingSelected { .. } => {
                "leave out a filter: `ringlane dump` lists everything".to_string()
            }
            DumpError::CannotExport { source, .. } => match source.kind() {
                ErrorKind::AlreadyExists => {
                    "files are never overwritten: name another directory with -o".to_string()
                }
                _ => os_hint(source).unwrap_or("name a directory with write permission with -o").to_string(),
            },
            DumpError::NotComparable { hint, .. } => hint.to_string(),
        }
    }
}
