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

use crate::lifeline::{End, Gate, INVITATION_BYTES, Invitation, Manners, Reach, Watch, join};
use crate::limits::{CONNECT, PAUSE_LONGEST, PAUSE_SHORTEST, SPIN};
use crate::raw::{Flight, return_errors};

/// This rank, and the way to the others. There is one in a process, and only the thread that made it uses it.
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
    /// Dropped by `finish` alone: MPI's own end waits for all ranks, and so for ever where one has died.
    universe: ManuallyDrop<Universe>,
    watch: Watch,
    /// A frame whose beginning has been seen.
    arriving: Option<(Rank, Flight)>,
    inbox: VecDeque<(Rank, Vec<u8>)>,
    spin: Duration,
    this_thread: PhantomData<*const ()>,
}

impl Mpi {
    /// Joins the ranks that mpirun has started; without mpirun there is one, rank 0.
    pub fn init() -> Result<Self, TransportError> {
        // Threads that know nothing of MPI are all that there are beside this one.
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

    /// Ends MPI in order, together with all other ranks, which must do the same. A rank that is dropped instead leaves MPI
    /// as a process that ends does, and mpirun ends the others.
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

    /// Takes in what others have sent so far; says whether there was anything.
    fn take_in(&mut self) -> Result<bool, TransportError> {
        if self.arriving.is_none() {
            self.arriving = Flight::receive(&self.world)?;
        }
        let Some((from, mut flight)) = self.arriving.take() else { return Ok(false) };
        if !flight.has_arrived()? {
            self.arriving = Some((from, flight));
            return Ok(false);
        }
        self.inbox.extend(flight.into_bytes().map(|bytes| (from, bytes)));
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
        let mut flight = Flight::send(&self.world, to, frame)?;
        let mut pause = Pause::new(self.spin);
        while !flight.has_arrived()? {
            self.check_end()?;
            // The receiver may be sending to this rank, and wait until that is taken.
            if self.take_in()? {
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
            self.take_in()?;
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

/// The lifelines of all ranks.
fn connect(world: &SimpleCommunicator, reach: Reach) -> Result<Watch, TransportError> {
    let failed = |doing| move |error: io::Error| TransportError::Failed { doing, error: error.to_string() };
    let host = mpi::environment::processor_name().unwrap_or_default();
    let root = world.process_at_rank(0);
    let mut bytes = [0; INVITATION_BYTES];
    if world.rank() == 0 {
        let gate = Gate::open(reach, &host).map_err(failed("listening for the other ranks"))?;
        let invitation = gate.invitation().map_err(failed("listening for the other ranks"))?;
        bytes = invitation.to_bytes();
        root.broadcast_into(&mut bytes);
        let ranks = world.size() as u32;
        return gate
            .gather(ranks, CONNECT, Manners::SCHEDULER)
            .map_err(failed("waiting for the other ranks"));
    }
    root.broadcast_into(&mut bytes);
    let Some(invitation) = Invitation::from_bytes(&bytes) else {
        let (doing, error) = ("connecting to rank 0", "its invitation is no text".to_string());
        return Err(TransportError::Failed { doing, error });
    };
    let rank = Rank(world.rank() as u32);
    join(&invitation, rank, &host, CONNECT, Manners::WORKER).map_err(failed("connecting to rank 0"))
}

/// What a rank does between two looks: nothing at first, then ever longer sleeps.
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
