//! Captured arguments as files, one for each record.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use ringlane_insight::dump::{Captured, write_npy, write_txt};
use ringlane_trace::dump::{DumpData, Payloads, Truncated};
use ringlane_trace::{ArtifactFile, TraceError};

use super::error::DumpError;
use super::list::stage_word;
use crate::errors::CliError;
use crate::output::{self, printable};

/// Characters of a kernel's name in a file's name.
const NAME_MAX: usize = 64;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text: one line for each row of the last dimension
    Txt,
    /// For `numpy.load`; bfloat16 and float8 become float32
    Npy,
}

/// Writes a file for each record, and gives their names.
pub fn export(
    selected: &[Captured<'_>],
    payloads: &Payloads,
    format: Format,
    dir: &Path,
) -> Result<Vec<String>, CliError> {
    let failed =
        |path: &Path, source| CliError::from(DumpError::CannotExport { path: path.to_path_buf(), source });
    let cannot_write = |error: TraceError| match error {
        TraceError::CannotWrite { path, source } => failed(&path, source),
        error => error.into(),
    };
    fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    let mut files = Vec::with_capacity(selected.len());
    for captured in selected {
        let path = dir.join(file_name(captured, format));
        if fs::symlink_metadata(&path).is_ok() {
            // A file of an earlier export may be of another run.
            return Err(failed(&path, ErrorKind::AlreadyExists.into()));
        }
        let mut file = ArtifactFile::at(&path).map_err(cannot_write)?;
        write(captured, payloads, format, &mut file)?.map_err(|error| failed(&path, error))?;
        file.commit().map_err(cannot_write)?;
        files.push(path.display().to_string());
    }
    Ok(files)
}

fn write(
    captured: &Captured<'_>,
    payloads: &Payloads,
    format: Format,
    out: &mut impl Write,
) -> Result<io::Result<()>, CliError> {
    Ok(match format {
        Format::Txt => write_txt(captured, payloads, out)?,
        Format::Npy => write_npy(captured, payloads, out)?,
    })
}

/// What the record is, in characters that every file system takes: a kernel's name may hold anything.
fn file_name(captured: &Captured<'_>, format: Format) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let kernel: String = captured.kernel.chars().take(NAME_MAX).map(safe).collect();
    let record = captured.record;
    let cut = match &record.data {
        DumpData::Tensor(tensor) if tensor.truncated == Truncated::Yes => "_truncated",
        _ => "",
    };
    let ending = if format == Format::Npy { "npy" } else { "txt" };
    format!(
        "{:06}_seq{}_{kernel}_arg{}_{}{cut}.{ending}",
        captured.index,
        captured.seq(),
        record.arg_index,
        stage_word(record.stage)
    )
}

/// The names of the files, one a line.
pub fn text(files: &[String]) -> String {
    files.iter().map(|name| format!("{}\n", printable(name))).collect()
}

/// The names of the files, for programs.
pub fn json(files: &[String]) -> String {
    output::json(&BTreeMap::from([("files", files)]))
}
