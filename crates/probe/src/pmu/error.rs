//! Why there are no counters.

use std::io;

use ringlane_task::{Explain, Reader};
use rustix::io::Errno;

use super::group::Event;
use crate::store::errno_name;

/// The kernel refuses a thread its counters.
///
/// Its detail names the counter that failed and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct PmuUnavailable {
    /// The kernel's error. `EBUSY` also means that the kernel accepted the counters, but the processor has no free ones.
    pub errno: Errno,
    /// The counter that was refused, as `perf list` calls it.
    pub event: &'static str,
    /// The value of `/proc/sys/kernel/perf_event_paranoid`, if it exists.
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

ringlane_task::display_explained!(PmuUnavailable);

impl Explain for PmuUnavailable {
    fn name(&self) -> &'static str {
        "PmuUnavailable"
    }

    fn summary(&self) -> String {
        "no processor counters".to_string()
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
            Errno::NOSYS => "this kernel is built without perf_event",
            Errno::BUSY | Errno::INVAL => {
                return format!("the processor does not have enough free counters for the group; {}", fewer());
            }
            Errno::MFILE | Errno::NFILE => "raise the limit of open files (ulimit -n)",
            _ => return fewer(),
        }
        .to_string()
    }
}

/// How to request fewer counters.
fn fewer() -> String {
    format!("try {}", Reader::choose("`pmu_group` 0, the basic group", "--pmu=basic"))
}
