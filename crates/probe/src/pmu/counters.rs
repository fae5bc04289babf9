//! The counters of one thread: opened by it, read by it, closed when they are dropped.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use zerocopy::IntoBytes;

use super::error::PmuUnavailable;
use super::group::{Event, Group};

/// The most counters that a group has: all cycles, and the ten of the chip that has most.
pub const COUNTERS_MAX: usize = 11;

/// A counter's description for the kernel: `struct perf_event_attr` in its first published size, which every kernel
/// accepts; later fields are zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Attributes {
    class: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const _: () = assert!(size_of::<Attributes>() == 64);

/// The leader's place in the processor is kept as long as its thread runs; where there is none, reading fails.
const PINNED: u64 = 1 << 2;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// One read gives the values of the whole group.
const READ_GROUP: u64 = 1 << 3;
/// The descriptor does not survive an exec.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// A group of counters that count the thread that opened them.
#[derive(Debug)]
pub struct Counters {
    /// The leader first; it is the one that is read.
    descriptors: Vec<OwnedFd>,
    events: &'static [Event],
}

impl Counters {
    /// Opens and starts the counters for the calling thread, and reads them once to see that they run.
    pub fn open(group: Group) -> Result<Counters, PmuUnavailable> {
        Self::open_events(group.events())
    }

    /// Opens and starts these.
    pub(super) fn open_events(events: &'static [Event]) -> Result<Counters, PmuUnavailable> {
        debug_assert!((1..=COUNTERS_MAX).contains(&events.len()));
        let mut counters = Counters { descriptors: Vec::with_capacity(events.len()), events };
        for event in events {
            let leader = counters.descriptors.first().map(AsRawFd::as_raw_fd);
            let opened = open_one(event, leader).map_err(|errno| PmuUnavailable::new(errno, event))?;
            counters.descriptors.push(opened);
        }
        counters.read(&mut [0; COUNTERS_MAX])?;
        Ok(counters)
    }

    /// How many counters there are.
    pub fn count(&self) -> usize {
        self.events.len()
    }

    /// Reads all of them with one system call into the first places of `values`; they only grow.
    #[inline]
    pub fn read(&mut self, values: &mut [u64; COUNTERS_MAX]) -> Result<(), PmuUnavailable> {
        // The kernel gives the number of counters, and then their values.
        let mut answer = [0u64; 1 + COUNTERS_MAX];
        let count = self.count();
        let expected = (1 + count) * size_of::<u64>();
        match rustix::io::read(&self.descriptors[0], answer.as_mut_bytes()) {
            Ok(bytes) if bytes == expected => {
                values[..count].copy_from_slice(&answer[1..=count]);
                Ok(())
            }
            // Nothing to read: the group has lost its place in the processor.
            Ok(_) => Err(PmuUnavailable::new(Errno::BUSY, &self.events[0])),
            Err(errno) => Err(PmuUnavailable::new(errno, &self.events[0])),
        }
    }
}

/// Asks the kernel for a counter of the calling thread, in the group of `leader` or as the leader of a new one.
fn open_one(event: &Event, leader: Option<RawFd>) -> Result<OwnedFd, Errno> {
    let pinned = if leader.is_none() { PINNED } else { 0 };
    let attributes = Attributes {
        class: event.class,
        size: size_of::<Attributes>() as u32,
        config: event.config,
        read_format: READ_GROUP,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | pinned,
        ..Attributes::default()
    };
    let (this_thread, any_processor): (libc::pid_t, libc::c_int) = (0, -1);
    // SAFETY: the structure is as long as it says and outlives the call, which only reads it; the other arguments are
    // plain numbers of the types that the call takes.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            this_thread,
            any_processor,
            leader.unwrap_or(-1),
            CLOSE_ON_EXEC,
        )
    };
    match RawFd::try_from(answer) {
        // SAFETY: the kernel has just opened it for us, and nobody else knows of it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)),
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use ringlane_task::Explain;

    use super::*;

    /// Counters that need no hardware: nanoseconds on a processor, page faults, and page faults without the disk.
    const SOFTWARE: &[Event] = &[
        Event { class: 1, config: 1, name: "task-clock" },
        Event { class: 1, config: 2, name: "page-faults" },
        Event { class: 1, config: 5, name: "minor-faults" },
    ];

    /// Works until at least 64 pages were touched for the first time.
    fn touch_pages() {
        let mut pages = vec![0u8; 64 * 4096];
        pages.iter_mut().step_by(4096).for_each(|byte| *byte = core::hint::black_box(1));
        core::hint::black_box(&pages);
    }

    #[test]
    fn a_group_is_read_as_a_whole_and_counts_what_its_thread_does() {
        // Where the kernel allows nothing at all, the refusal is what can be seen.
        let mut counters = match Counters::open_events(SOFTWARE) {
            Ok(counters) => counters,
            Err(refused) => return assert_is_explained(&refused),
        };
        let (mut before, mut after) = ([7; COUNTERS_MAX], [7; COUNTERS_MAX]);
        counters.read(&mut before).unwrap();
        std::thread::spawn(|| (0..16).for_each(|_| touch_pages())).join().unwrap();
        (0..4).for_each(|_| touch_pages());
        counters.read(&mut after).unwrap();
        assert!(after[0] > before[0], "{before:?} {after:?}");
        assert!(
            after[1] >= before[1] && after[1] - before[1] < 16 * 64,
            "another thread's faults were counted"
        );
        assert!(after[2] <= after[1]);
        assert_eq!(after[3..], [7; COUNTERS_MAX - 3], "what is no counter is left alone");
    }

    #[test]
    fn hardware_counters_count_or_are_refused_in_one_clear_line() {
        for group in Group::ALL {
            match Counters::open(group) {
                Ok(mut counters) => {
                    let (mut before, mut after) = ([0; COUNTERS_MAX], [0; COUNTERS_MAX]);
                    counters.read(&mut before).unwrap();
                    touch_pages();
                    counters.read(&mut after).unwrap();
                    assert!(after[0] > before[0], "{group}: {before:?} {after:?}");
                }
                Err(refused) => {
                    println!("{group}: {refused}");
                    assert!(group.events().iter().any(|event| event.name == refused.event));
                    assert_is_explained(&refused);
                }
            }
        }
    }

    fn assert_is_explained(refused: &PmuUnavailable) {
        let line = refused.to_string();
        assert!(line.contains(refused.event) && line.contains(&refused.hint()) && !line.contains('\n'));
        assert!(line.contains(" for ") && line.contains("perf_event_paranoid"), "{line}");
    }

    #[test]
    fn what_the_kernel_does_not_know_is_refused_with_its_name() {
        const NONSENSE: &[Event] = &[Event { class: 1, config: 9999, name: "nonsense" }];
        let refused = Counters::open_events(NONSENSE).unwrap_err();
        assert_eq!((refused.event, refused.name()), ("nonsense", "PmuUnavailable"));
        assert_is_explained(&refused);
    }
}
