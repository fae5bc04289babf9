//! The errors of a run's files.

use std::io;
use std::path::PathBuf;

use ringlane_task::{Explain, Reader};
use rustix::io::Errno;

/// Why a run directory or a file in it cannot be created or read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TraceError {
    /// The output directory already contains a run.
    RunExists { path: PathBuf },
    /// Another run is writing into the output directory.
    DirectoryInUse { path: PathBuf },
    /// A file is where the output directory should be.
    NotADirectory { path: PathBuf },
    /// The output directory cannot be created.
    CannotCreate { path: PathBuf, source: io::Error },
    /// The output directory cannot be written.
    NotWritable { path: PathBuf, source: io::Error },
    /// A name cannot be part of a file's name.
    UnsafeName { what: &'static str, name: String },
    /// A file cannot be written.
    CannotWrite { path: PathBuf, source: io::Error },
    /// There is no finished run here.
    NoManifest { path: PathBuf },
    /// A file of the run cannot be read.
    CannotRead { path: PathBuf, source: io::Error },
    /// A file of the run is damaged.
    Damaged { path: PathBuf, what: String },
    /// A file of the run has an unknown version.
    UnknownVersion { path: PathBuf, version: u64, known: &'static str },
}

impl TraceError {
    /// The operating system's error message, with its name, as in the `incomplete` of a file in `run.json`.
    ///
    /// ```
    /// use ringlane_trace::TraceError;
    /// let source = std::io::Error::from_raw_os_error(28);
    /// let error = TraceError::CannotWrite { path: "deps.json".into(), source };
    /// assert_eq!(error.os_reason().unwrap(), "ENOSPC: No space left on device (os error 28)");
    /// ```
    pub fn os_reason(&self) -> Option<String> {
        self.source_error().map(describe_os_error)
    }

    /// The operating system's error, if one is the cause.
    fn source_error(&self) -> Option<&io::Error> {
        match self {
            TraceError::CannotCreate { source, .. }
            | TraceError::NotWritable { source, .. }
            | TraceError::CannotWrite { source, .. }
            | TraceError::CannotRead { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// The operating system's error message, after the name of the error.
///
/// ```
/// use ringlane_trace::describe_os_error;
/// let full = std::io::Error::from_raw_os_error(28);
/// assert_eq!(describe_os_error(&full), "ENOSPC: No space left on device (os error 28)");
/// assert_eq!(describe_os_error(&std::io::Error::other("odd")), "odd");
/// ```
pub fn describe_os_error(error: &io::Error) -> String {
    errno_name(error).map_or_else(|| error.to_string(), |name| format!("{name}: {error}"))
}

/// What to do about an error of the operating system that is not caused by the file itself.
///
/// ```
/// use ringlane_trace::os_hint;
/// assert!(os_hint(&std::io::Error::from_raw_os_error(24)).unwrap().contains("ulimit -n"));
/// assert_eq!(os_hint(&std::io::Error::from_raw_os_error(2)), None);
/// ```
pub fn os_hint(error: &io::Error) -> Option<&'static str> {
    os_reason_hint(&describe_os_error(error))
}

/// As [`os_hint`], for a text that contains the output of [`describe_os_error`].
pub fn os_reason_hint(reason: &str) -> Option<&'static str> {
    reason.split(": ").find_map(|part| match part {
        "EMFILE" => Some(
            "the process has reached its limit of open files; raise it in the shell, for example with `ulimit -n 4096`",
        ),
        "ENFILE" => Some("the machine has reached its limit of open files, fs.file-max"),
        _ => None,
    })
}

/// The name of an operating system error, such as `ENOSPC`, if files or counters can cause it.
pub fn errno_name(error: &io::Error) -> Option<&'static str> {
    let errno = Errno::from_io_error(error)?;
    ERRNO_NAMES.iter().find(|(known, _)| *known == errno).map(|(_, name)| *name)
}

/// The errors that writing and reading files, and opening counters, can cause.
const ERRNO_NAMES: [(Errno, &str); 23] = [
    (Errno::NOSPC, "ENOSPC"),
    (Errno::DQUOT, "EDQUOT"),
    (Errno::FBIG, "EFBIG"),
    (Errno::IO, "EIO"),
    (Errno::ROFS, "EROFS"),
    (Errno::ACCESS, "EACCES"),
    (Errno::PERM, "EPERM"),
    (Errno::NOENT, "ENOENT"),
    (Errno::NOTDIR, "ENOTDIR"),
    (Errno::ISDIR, "EISDIR"),
    (Errno::EXIST, "EEXIST"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG"),
    (Errno::MFILE, "EMFILE"),
    (Errno::NFILE, "ENFILE"),
    (Errno::NOTEMPTY, "ENOTEMPTY"),
    (Errno::NODEV, "ENODEV"),
    (Errno::NXIO, "ENXIO"),
    (Errno::OPNOTSUPP, "EOPNOTSUPP"),
    (Errno::NOSYS, "ENOSYS"),
    (Errno::INVAL, "EINVAL"),
    (Errno::BUSY, "EBUSY"),
    (Errno::NOMEM, "ENOMEM"),
    (Errno::STALE, "ESTALE"),
];

ringlane_task::display_explained!(TraceError);

impl Explain for TraceError {
    fn name(&self) -> &'static str {
        match self {
            TraceError::RunExists { .. } => "RunExists",
            TraceError::DirectoryInUse { .. } => "DirectoryInUse",
            TraceError::NotADirectory { .. } => "NotADirectory",
            TraceError::CannotCreate { .. } => "CannotCreate",
            TraceError::NotWritable { .. } => "NotWritable",
            TraceError::UnsafeName { .. } => "UnsafeName",
            TraceError::CannotWrite { .. } => "CannotWrite",
            TraceError::NoManifest { .. } => "NoManifest",
            TraceError::CannotRead { .. } => "CannotRead",
            TraceError::Damaged { .. } => "Damaged",
            TraceError::UnknownVersion { .. } => "UnknownVersion",
        }
    }

    fn summary(&self) -> String {
        match self {
            TraceError::RunExists { .. } => "the output directory already contains a run",
            TraceError::DirectoryInUse { .. } => "another run is writing into the output directory",
            TraceError::NotADirectory { .. } => "a file is where the output directory should be",
            TraceError::CannotCreate { .. } => "the output directory cannot be created",
            TraceError::NotWritable { .. } => "the output directory cannot be written",
            TraceError::UnsafeName { .. } => "a name cannot be part of a file's name",
            TraceError::CannotWrite { .. } => "a file cannot be written",
            TraceError::NoManifest { .. } => "there is no finished run here",
            TraceError::CannotRead { .. } => "a file of the run cannot be read",
            TraceError::Damaged { .. } => "a file of the run is damaged",
            TraceError::UnknownVersion { .. } => "a file of the run has an unknown version",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            TraceError::RunExists { path } => format!("{} exists", path.display()),
            TraceError::DirectoryInUse { path } => format!("{} is locked", path.display()),
            TraceError::NotADirectory { path } => format!("{} is not a directory", path.display()),
            TraceError::NoManifest { path } => format!("{} does not exist", path.display()),
            TraceError::CannotCreate { path, source }
            | TraceError::NotWritable { path, source }
            | TraceError::CannotWrite { path, source }
            | TraceError::CannotRead { path, source } => {
                format!("{}: {}", path.display(), describe_os_error(source))
            }
            TraceError::UnsafeName { what, name } => format!("{what} {name:?}"),
            TraceError::Damaged { path, what } => format!("{}: {what}", path.display()),
            TraceError::UnknownVersion { path, version, known } => {
                format!("{} has version {version}, known versions: {known}", path.display())
            }
        }
    }

    fn hint(&self) -> String {
        if let Some(hint) = self.source_error().and_then(os_hint) {
            return hint.to_string();
        }
        match self {
            TraceError::RunExists { .. } => {
                let another = Reader::choose("name another directory", "name another directory with -o DIR");
                return format!("{another}, or remove this one");
            }
            TraceError::DirectoryInUse { .. } | TraceError::NotADirectory { .. } => {
                Reader::choose("name another directory", "name another directory with -o DIR")
            }
            TraceError::CannotCreate { .. } | TraceError::NotWritable { .. } => Reader::choose(
                "name a directory with write permission",
                "name a directory with write permission, with -o DIR",
            ),
            TraceError::UnsafeName { .. } => {
                "use at most 100 letters, digits, '_', '-' and '.'; do not start with '.'"
            }
            TraceError::CannotWrite { .. } => {
                "check that the directory exists, its permissions, and the free space"
            }
            TraceError::NoManifest { .. } => {
                "run.json is written last: the run crashed, or this is not a run directory"
            }
            TraceError::CannotRead { .. } => "check that it is a file with read permission",
            TraceError::Damaged { .. } => "repeat the run",
            TraceError::UnknownVersion { .. } => {
                "use the version of ringlane that wrote it, or repeat the run"
            }
        }
        .to_string()
    }
}
