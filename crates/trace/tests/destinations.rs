//! Where a file is written: regular files are replaced whole, links stay, devices and pipes are written through.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;

use ringlane_trace::{ArtifactFile, TraceError, remove_unfinished};
use rustix::fs::{CWD, FileType, Mode, mknodat};

struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ringlane-destinations-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Dir(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn write(path: &Path, text: &str) -> Result<u64, TraceError> {
    let mut file = ArtifactFile::at(path)?;
    file.write_all(text.as_bytes()).map_err(|error| file.error(error))?;
    file.commit()
}

#[test]
fn a_regular_file_is_replaced_by_another_one() {
    let dir = Dir::new("regular");
    fs::write(dir.at("a"), "old").unwrap();
    let old = fs::metadata(dir.at("a")).unwrap().ino();
    assert_eq!(write(&dir.at("a"), "new text").unwrap(), 8);
    assert_eq!(fs::read_to_string(dir.at("a")).unwrap(), "new text");
    assert_ne!(fs::metadata(dir.at("a")).unwrap().ino(), old);
    assert_eq!(dir.names(), ["a"]);
}

#[test]
fn a_link_stays_and_the_file_it_leads_to_is_replaced_or_made() {
    let dir = Dir::new("links");
    fs::create_dir(dir.at("below")).unwrap();
    fs::write(dir.at("below/a"), "old").unwrap();
    symlink("below/a", dir.at("first")).unwrap();
    symlink("first", dir.at("second")).unwrap();
    symlink("below/none", dir.at("dangling")).unwrap();
    write(&dir.at("second"), "new").unwrap();
    write(&dir.at("dangling"), "made").unwrap();
    assert_eq!(fs::read_to_string(dir.at("below/a")).unwrap(), "new");
    assert_eq!(fs::read_to_string(dir.at("below/none")).unwrap(), "made");
    for link in ["first", "second", "dangling"] {
        assert!(fs::symlink_metadata(dir.at(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(dir.names(), ["below", "dangling", "first", "second"]);
}

#[test]
fn links_in_a_circle_and_directories_are_refused() {
    let dir = Dir::new("refused");
    symlink("b", dir.at("a")).unwrap();
    symlink("a", dir.at("b")).unwrap();
    let TraceError::CannotWrite { source, .. } = write(&dir.at("a"), "x").unwrap_err() else { panic!() };
    assert_eq!(source.raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
    let TraceError::CannotWrite { source, .. } = write(&dir.0, "x").unwrap_err() else { panic!() };
    assert_eq!(source.kind(), ErrorKind::IsADirectory);
}

#[test]
fn a_pipe_is_written_through_also_by_way_of_a_link() {
    let dir = Dir::new("pipe");
    mknodat(CWD, dir.at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    symlink("pipe", dir.at("link")).unwrap();
    for name in ["pipe", "link"] {
        let path = dir.at("pipe");
        let reader = thread::spawn(move || {
            let mut text = String::new();
            fs::File::open(path).unwrap().read_to_string(&mut text).unwrap();
            text
        });
        let text = "x".repeat(200_000);
        assert_eq!(write(&dir.at(name), &text).unwrap(), 200_000, "{name}");
        assert!(reader.join().unwrap() == text, "{name}");
        assert!(fs::symlink_metadata(dir.at("pipe")).unwrap().file_type().is_fifo());
    }
    assert_eq!(dir.names(), ["link", "pipe"]);
}

#[test]
fn a_device_stays_a_device() {
    let dir = Dir::new("device");
    // A node of its own with the numbers of /dev/null; only root may make one.
    let made = mknodat(CWD, dir.at("null"), FileType::CharacterDevice, Mode::RUSR | Mode::WUSR, 0x103);
    let usable = made.is_ok() && fs::OpenOptions::new().write(true).open(dir.at("null")).is_ok();
    if !usable {
        let _ = fs::remove_file(dir.at("null"));
        symlink("/dev/null", dir.at("null")).unwrap();
    }
    assert_eq!(write(&dir.at("null"), "abc").unwrap(), 3);
    assert!(fs::metadata(dir.at("null")).unwrap().file_type().is_char_device());
    assert_eq!(dir.names(), ["null"]);
}

#[test]
fn a_file_that_has_no_name_any_more_is_written_through_its_descriptor() {
    let dir = Dir::new("nameless");
    let mut file = fs::File::options().read(true).write(true).create_new(true).open(dir.at("a")).unwrap();
    fs::remove_file(dir.at("a")).unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
    assert_eq!(write(Path::new(&path), "abc").unwrap(), 3);
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "abc");
    assert!(dir.names().is_empty());
}

#[test]
fn what_is_not_finished_can_be_removed_without_its_writer() {
    // In this test alone: the table is the process's. Files of the tests beside it may be reported too.
    if std::env::var_os("RINGLANE_ALONE").is_none() {
        let this = std::env::current_exe().unwrap();
        let name = "what_is_not_finished_can_be_removed_without_its_writer";
        let alone =
            std::process::Command::new(this).args([name, "--exact"]).env("RINGLANE_ALONE", "1").output();
        let alone = alone.unwrap();
        assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stdout));
        return;
    }
    let dir = Dir::new("unfinished");
    let mut file = ArtifactFile::at(dir.at("a")).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!(dir.names().len(), 1);
    let mut names = Vec::new();
    remove_unfinished(|name| names.push(name.to_string()));
    assert_eq!(names, [dir.at("a").display().to_string()]);
    assert!(dir.names().is_empty());
    assert!(file.commit().is_err());
}
