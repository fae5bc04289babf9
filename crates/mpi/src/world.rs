//! All ranks of an MPI run, as a [`Transport`].

use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Root};
use ringlane_node::frame::check_size;
use ringlane_node::remote::{Rank, Transport, TransportError};

use crate::lifeline::{End, INVITATION_BYTES, Invitation, Listener, Reach, ShutdownRules, Watch, join};
use crate::limits::{CONNECT, PAUSE_LONGEST, PAUSE_SHORTEST, SPIN};
use crate::raw::{PendingMessage, return_errors};

/// This rank, and the connection to the others. There is one per process, used only by the thread that created it.
///
/// ```no_run
/// use ringlane_mpi::Mpi;
/// use ringlane_node::remote::Transport;
/// let mpi = Mpi::init()?;
/// println!("{} of {}", mpi.rank(), mpi.ranks());
/// mpi.finish();
/// # Ok::<(), ringlane_node::remote::TransportError>(())
/// ```
pub struct Mpi {
    world: SimpleCommunicator,
    /// Dropped only by `finish`: finalizing MPI waits for all ranks, and so forever if one has died.
    universe: ManuallyDrop<Universe>,
    watch: Watch,
    /// A frame whose reception has begun.
    arriving: Option<(Rank, PendingMessage)>,
    inbox: VecDeque<(Rank, Vec<u8>)>,
    spin: Duration,
    this_thread: PhantomData<*const ()>,
}

impl Mpi {
    /// Joins the ranks that mpirun has started; without mpirun there is only rank 0.
    pub fn init() -> Result<Self, TransportError> {
        // All other threads of the process do not use MPI.
        let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
            let (doing, error) = ("starting MPI", "it has been started already".to_string());
            return Err(TransportError::Failed { doing, error });
        };
        let world = universe.world();
        return_errors(&world)?;
        let ranks_here = world.split_shared(0).size();
        let reach = if ranks_here == world.size() { Reach::ThisHost } else { Reach::AnyHost };
        let watch = connect(&world, reach)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = if ranks_here as usize <= cores { SPIN } else { Duration::ZERO };
        Ok(Mpi {
            world,
            universe: ManuallyDrop::new(universe),
            watch,
            arriving: None,
            inbox: VecDeque::new(),
            spin,
            this_thread: PhantomData,
        })
    }

    /// Finalizes MPI, together with all other ranks, which must do the same. A rank that is dropped instead leaves
    /// MPI like a process that ends, and mpirun ends the others.
    pub fn finish(self) {
        self.watch.leave();
        ManuallyDrop::into_inner(self.universe);
    }

    fn check_end(&self) -> Result<(), TransportError> {
        match self.watch.end() {
            None => Ok(()),
            Some(End::Died(rank)) => Err(TransportError::Died(rank)),
            Some(End::Terminated) => Err(TransportError::Terminated),
        }
    }

    /// Receives frames that have arrived so far; returns whether there were any.
    fn receive_arrived(&mut self) -> Result<bool, TransportError> {
        if self.arriving.is_none() {
            self.arriving = PendingMessage::receive(&self.world)?;
        }
        let Some((from, mut message)) = self.arriving.take() else { return Ok(false) };
        if !message.has_arrived()? {
            self.arriving = Some((from, message));
            return Ok(false);
        }
        self.inbox.extend(message.into_bytes().map(|bytes| (from, bytes)));
        Ok(true)
    }
}

impl Transport for Mpi {
    fn rank(&self) -> Rank {
        Rank(self.world.rank() as u32)
    }

    fn ranks(&self) -> u32 {
        self.world.size() as u32
    }

    fn send(&mut self, to: Rank, frame: Vec<u8>) -> Result<(), TransportError> {
        let bytes = frame.len() as u64;
        check_size(bytes).map_err(|_| TransportError::TooLarge { from: self.rank(), bytes })?;
        if to.0 >= self.ranks() {
            return Err(TransportError::NoSuchRank(to));
        }
        let mut message = PendingMessage::send(&self.world, to, frame)?;
        let mut pause = Pause::new(self.spin);
        while !message.has_arrived()? {
            self.check_end()?;
            // The receiver may be sending to this rank, and wait until that is received.
            if self.receive_arrived()? {
                pause = Pause::new(self.spin);
            }
            pause.take(None);
        }
        Ok(())
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<(Rank, Vec<u8>)>, TransportError> {
        let deadline = Instant::now().checked_add(wait);
        let mut pause = Pause::new(self.spin);
        loop {
            self.receive_arrived()?;
            if let Some(frame) = self.inbox.pop_front() {
                return Ok(Some(frame));
            }
            self.check_end()?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            pause.take(deadline);
        }
    }
}

/// Connects the lifelines of all ranks.
fn connect(world: &SimpleCommunicator, reach: Reach) -> Result<Watch, TransportError> {
    let failed = |doing| move |error: io::Error| TransportError::Failed { doing, error: error.to_string() };
    let host = mpi::environment::processor_name().unwrap_or_default();
    let root = world.process_at_rank(0);
    let mut bytes = [0; INVITATION_BYTES];
    if world.rank() == 0 {
        let listener = Listener::open(reach, &host).map_err(failed("listening for the other ranks"))?;
        let invitation = listener.invitation().map_err(failed("listening for the other ranks"))?;
        bytes = invitation.to_bytes();
        root.broadcast_into(&mut bytes);
        let ranks = world.size() as u32;
        return listener
            .gather(ranks, CONNECT, ShutdownRules::SCHEDULER)
            .map_err(failed("waiting for the other ranks"));
    }
    root.broadcast_into(&mut bytes);
    let Some(invitation) = Invitation::from_bytes(&bytes) else {
        let (doing, error) = ("connecting to rank 0", "its invitation is not UTF-8".to_string());
        return Err(TransportError::Failed { doing, error });
    };
    let rank = Rank(world.rank() as u32);
    join(&invitation, rank, &host, CONNECT, ShutdownRules::WORKER).map_err(failed("connecting to rank 0"))
}

/// The back-off between two polls: none at first, then increasing sleeps.
struct Pause {
    spin_until: Instant,
    next: Duration,
}

impl Pause {
    fn new(spin: Duration) -> Self {
        Pause { spin_until: Instant::now() + spin, next: PAUSE_SHORTEST }
    }

    fn take(&mut self, deadline: Option<Instant>) {
        let now = Instant::now();
        if now < self.spin_until {
            std::hint::spin_loop();
            return;
        }
        let rest = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(now));
        std::thread::sleep(self.next.min(rest));
        self.next = (self.next * 2).min(PAUSE_LONGEST);
    }
}
