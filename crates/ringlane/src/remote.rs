//! A running runtime, from another thread.

use ringlane_engine::report::{RunningTask, Status};

/// A hand on a running [`Runtime`] from another thread.
#[derive(Clone)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Remote {
    #[doc(hidden)]
    Cpu(ringlane_chip_cpu::Remote),
    #[doc(hidden)]
    Sim(ringlane_chip_sim::Remote),
    #[doc(hidden)]
    Node(ringlane_node::Remote),
}

impl Remote {
    /// Ends the run at the next task.
    pub fn interrupt(&self) {
        match self {
            Remote::Cpu(cpu) => cpu.interrupt(),
            Remote::Sim(sim) => sim.interrupt(),
            Remote::Node(node) => node.interrupt(),
        }
    }

    /// The block that a thread computes now. May be called in a signal handler.
    pub fn running_on(&self, thread: Thread) -> Option<RunningTask> {
        match self {
            Remote::Cpu(cpu) => cpu.running_on(thread.number),
            // Everything of a model is done by the thread that submits; the blocks of a node's tasks run elsewhere.
            Remote::Sim(sim) => sim.running().filter(|_| thread.is_submitter),
            Remote::Node(_) => None,
        }
    }

    /// What the run is doing now.
    pub fn status(&self) -> Status {
        match self {
            Remote::Cpu(cpu) => cpu.status(),
            Remote::Sim(sim) => sim.status(),
            Remote::Node(node) => node.status(),
        }
    }
}

/// A thread of this process.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// The system's number of it.
    pub number: u32,
    /// Whether it is the one that submits.
    pub is_submitter: bool,
}
