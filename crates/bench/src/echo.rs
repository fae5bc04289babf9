//! Child processes that echo messages through a pipe or a socket, for comparison with a mailbox.
//!
//! An echo child is an ordinary child in which a callable runs that does not return: it opens the parent's pipes
//! through `/proc`, or connects to the parent's socket, sends a hello, and echoes every message until the end of the
//! input.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use ringlane_node::task::{CallConfig, Scalar};
use ringlane_node::{CallError, Child, ChildLaunch, callable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::error::BenchError;

/// Bytes of a message each way: a cache line.
const MESSAGE: usize = 64;

/// Seconds until a child must have sent its hello.
const HELLO_SECONDS: i64 = 10;

callable! {
    /// Does nothing: for measuring the round trip.
    pub static EMPTY = function fn(_call; tensors: 0, scalars: []) { Ok(()) }
}

callable! {
    /// Echoes from one pipe of a process to another, given the process id and the descriptors.
    static ECHO_PIPES = function fn(call; tensors: 0, scalars: [UInt64, UInt64, UInt64]) {
        let path = |index| {
            Ok(format!("/proc/{}/fd/{}", call.scalar::<u64>(0)?, call.scalar::<u64>(index)?))
        };
        let from = File::open(path(1)?).map_err(failed)?;
        let to = OpenOptions::new().write(true).open(path(2)?).map_err(failed)?;
        echo(from, to).map_err(failed)
    }
}

callable! {
    /// Echoes through the socket of a process, given its id.
    static ECHO_SOCKET = function fn(call; tensors: 0, scalars: [UInt64]) {
        let stream = address(call.scalar::<u64>(0)?).and_then(|address| UnixStream::connect_addr(&address));
        let stream = stream.map_err(failed)?;
        echo(stream.try_clone().map_err(failed)?, stream).map_err(failed)
    }
}

/// An echo child, and the connection to it.
pub struct EchoChild<R, W> {
    _child: Child,
    from: R,
    to: W,
}

impl EchoChild<PipeReader, PipeWriter> {
    /// Through two pipes.
    pub fn with_pipes() -> Result<Self, BenchError> {
        let (theirs, to) = pipe().map_err(cannot("pipe"))?;
        let (from, answers) = pipe().map_err(cannot("pipe"))?;
        let descriptors = [theirs.as_raw_fd(), answers.as_raw_fd()].map(|fd| Scalar::new(fd as u64));
        let mut child = Child::start(&ChildLaunch::new("pipe"))?;
        child.send(
            &ECHO_PIPES,
            &CallConfig::default(),
            (0, 1),
            &[],
            &[own_number(), descriptors[0], descriptors[1]],
        )?;
        await_hello(&mut child, &from)?;
        // From here on `theirs` and `answers` belong to the child.
        EchoChild { _child: child, from, to }.receive_hello("pipe")
    }
}

impl EchoChild<UnixStream, UnixStream> {
    /// Through a Unix socket.
    pub fn with_socket() -> Result<Self, BenchError> {
        let address = address(std::process::id().into()).map_err(cannot("socket"))?;
        let listener = UnixListener::bind_addr(&address).map_err(cannot("socket"))?;
        let mut child = Child::start(&ChildLaunch::new("socket"))?;
        child.send(&ECHO_SOCKET, &CallConfig::default(), (0, 1), &[], &[own_number()])?;
        await_hello(&mut child, &listener)?;
        let (from, _) = listener.accept().map_err(cannot("socket"))?;
        let to = from.try_clone().map_err(cannot("socket"))?;
        EchoChild { _child: child, from, to }.receive_hello("socket")
    }
}

impl<R: Read, W: Write> EchoChild<R, W> {
    /// Receives the hello.
    fn receive_hello(mut self, what: &'static str) -> Result<Self, BenchError> {
        self.from.read_exact(&mut [0; MESSAGE]).map_err(cannot(what))?;
        Ok(self)
    }

    /// Sends one message and receives it.
    pub fn round_trip(&mut self) -> io::Result<()> {
        let mut message = [7; MESSAGE];
        self.to.write_all(&message)?;
        self.from.read_exact(&mut message)
    }
}

/// Waits until there is something to read. If nothing arrives, the child's call has the reason.
fn await_hello(child: &mut Child, from: &impl AsFd) -> Result<(), BenchError> {
    let timeout = Timespec { tv_sec: HELLO_SECONDS, tv_nsec: 0 };
    let mut asked = [PollFd::new(from, PollFlags::IN)];
    match poll(&mut asked, Some(&timeout)) {
        Ok(1..) => Ok(()),
        _ => Ok(child.wait(Duration::ZERO)?),
    }
}

/// Sends a hello, and echoes whole messages until the end of the input.
fn echo(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    to.write_all(&message)?;
    while from.read_exact(&mut message).is_ok() {
        to.write_all(&message)?;
    }
    Ok(())
}

fn address(process: u64) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("ringlane-bench-{process}"))
}

fn own_number() -> Scalar {
    Scalar::new(u64::from(std::process::id()))
}

fn failed(error: io::Error) -> CallError {
    CallError::new(
        "NoPeer",
        error.to_string(),
        "check that this process may open sockets and files below /proc",
    )
}

fn cannot(what: &'static str) -> impl Fn(io::Error) -> BenchError {
    move |error| BenchError::NoPeer { what, error }
}
