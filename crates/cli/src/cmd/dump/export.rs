//! Captured arguments as files, one for each record.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ringlane_insight::dump::{Captured, write_npy, write_txt};
use ringlane_trace::dump::{DumpData, Payloads, Truncated};

use super::error::DumpError;
use super::list::stage_word;
use crate::errors::CliError;

/// Characters of a kernel's name in a file's name.
const NAME_MAX: usize = 64;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text: a line for each run of the last dimension
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
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| CliError::from(DumpError::CannotExport { path, source })
    };
    fs::create_dir_all(dir).map_err(failed(dir))?;
    let mut files = Vec::with_capacity(selected.len());
    for captured in selected {
        let path = dir.join(file_name(captured, format));
        let file = File::create_new(&path).map_err(failed(&path))?;
        let written = write(captured, payloads, format, file);
        if !matches!(written, Ok(Ok(()))) {
            // Half an array would be read as a damaged one later.
            let _ = fs::remove_file(&path);
        }
        written?.map_err(failed(&path))?;
        files.push(path.display().to_string());
    }
    Ok(files)
}

fn write(
    captured: &Captured<'_>,
    payloads: &Payloads,
    format: Format,
    file: File,
) -> Result<io::Result<()>, CliError> {
    let mut out = BufWriter::new(file);
    let written = match format {
        Format::Txt => write_txt(captured, payloads, &mut out)?,
        Format::Npy => write_npy(captured, payloads, &mut out)?,
    };
    Ok(written.and_then(|()| out.flush()))
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
    files.iter().map(|name| format!("{name}\n")).collect()
}

/// The names of the files, for programs.
pub fn json(files: &[String]) -> String {
    format!("{}\n", serde_json::json!({ "files": files }))
}
