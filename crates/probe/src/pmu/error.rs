//! Why there are no counters.

use core::fmt;
use std::io;

use ringlane_task::Explain;
use rustix::io::Errno;

use super::group::Event;
use crate::store::errno_name;

/// The kernel does not give a thread its counters.
///
/// `Display` is one line that says all of it: what was asked for, which counter failed, why, and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PmuUnavailable {
    /// The kernel's answer. `EBUSY` also stands for counters that were granted and then had no room in the processor.
    pub errno: Errno,
    /// The counter that was refused, as `perf list` calls it.
    pub event: &'static str,
    /// What `/proc/sys/kernel/perf_event_paranoid` says, if it is there.
    pub paranoid: Option<i32>,
}

impl PmuUnavailable {
    /// The refusal of one counter.
    pub(super) fn new(errno: Errno, event: &Event) -> Self {
        let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
        let paranoid = paranoid.ok().and_then(|text| text.trim().parse().ok());
        PmuUnavailable { errno, event: event.name, paranoid }
    }
}

impl std::error::Error for PmuUnavailable {}

impl fmt::Display for PmuUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no processor counters: {}; {}", self.detail(), self.hint())
    }
}

impl Explain for PmuUnavailable {
    fn name(&self) -> &'static str {
        "PmuUnavailable"
    }

    fn detail(&self) -> String {
        let paranoid = match self.paranoid {
            Some(level) => format!("perf_event_paranoid is {level}"),
            None => "there is no perf_event_paranoid".to_string(),
        };
        let errno = errno_name(&io::Error::from(self.errno));
        format!("{errno} for {}, {paranoid}", self.event)
    }

    fn hint(&self) -> String {
        match self.errno {
            Errno::ACCESS | Errno::PERM => {
                "allow it with `sysctl kernel.perf_event_paranoid=2`, CAP_PERFMON, or in a container its seccomp profile"
            }
            Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV | Errno::NXIO => {
                "this processor, often a virtual one, does not have this counter"
            }
            Errno::NOSYS => "this kernel is built without performance events",
            Errno::BUSY | Errno::INVAL => {
                "the processor has not enough free counters for the group; try --pmu=basic"
            }
            Errno::MFILE | Errno::NFILE => "raise the limit of open files (ulimit -n)",
            _ => "try --pmu=basic",
        }
        .to_string()
    }
}
