//! `ringlane worker`: what a node starts.

use ringlane_node::{Inherited, NoEquipment, Service, Spin};

use crate::errors::{CliError, Exit};
use crate::panics;

const EXAMPLE: &str = "\
Example:
  $ ringlane worker --mailbox-fd 5
A node starts its workers itself, with a mailbox that they inherit as an open descriptor; there is no use in starting one by
hand. A worker ends with its node.";

/// Serve calls from a mailbox; a node starts this
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct WorkerArgs {
    /// The descriptor of the mailbox, as it was inherited
    #[arg(long, value_name = "N")]
    mailbox_fd: i32,
    /// Microseconds to look at the mailbox before sleeping
    #[arg(long, value_name = "N", default_value_t = 0)]
    spin_us: u64,
    /// The descriptor of a node's memory, outermost node first (repeatable)
    #[arg(long = "memory-fd", value_name = "N")]
    memory_fds: Vec<i32>,
}

impl WorkerArgs {
    /// Serves until the node says that it is enough.
    pub fn execute(&self) -> Result<Exit, CliError> {
        // A panic of a callable is the answer to its call.
        let inherited = Inherited { mailbox: self.mailbox_fd, memories: self.memory_fds.clone() };
        let served = panics::quietly(|| {
            Service::adopt(&inherited, Spin::from_us(self.spin_us))?.serve(&mut NoEquipment)
        });
        match served {
            Ok(served) => served.map(|_| Exit::Ok).map_err(CliError::Node),
            Err(panicked) => {
                crate::errors::print(&panicked);
                Ok(Exit::Failed)
            }
        }
    }
}
