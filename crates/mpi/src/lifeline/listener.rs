//! Establishes lifelines: rank 0 listens, the others connect and identify themselves.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use ringlane_node::remote::Rank;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::rand::{GetRandomFlags, getrandom};

use super::invitation::{Invitation, TOKEN_BYTES};
use super::watch::{ShutdownRules, Watch};
use crate::limits::INTRODUCTION;

/// A token and a rank.
const INTRODUCTION_BYTES: usize = TOKEN_BYTES + 4;

/// Which hosts can connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only this host: the socket is not reachable from outside.
    ThisHost,
    /// Any host.
    AnyHost,
}

/// The listening side of rank 0.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    token: [u8; TOKEN_BYTES],
    host: String,
}

impl Listener {
    /// Starts to listen. `host` is the name by which other hosts know this one.
    pub fn open(reach: Reach, host: &str) -> io::Result<Self> {
        let address = match reach {
            Reach::ThisHost => Ipv4Addr::LOCALHOST,
            Reach::AnyHost => Ipv4Addr::UNSPECIFIED,
        };
        let listener = TcpListener::bind((address, 0))?;
        listener.set_nonblocking(true)?;
        let mut token = [0; TOKEN_BYTES];
        let filled = getrandom(&mut token, GetRandomFlags::empty())?;
        if filled != TOKEN_BYTES {
            return Err(io::Error::from(ErrorKind::UnexpectedEof));
        }
        Ok(Listener { listener, token, host: host.to_string() })
    }

    /// What the other ranks need to connect.
    pub fn invitation(&self) -> io::Result<Invitation> {
        let port = self.listener.local_addr()?.port();
        Ok(Invitation { port, token: self.token, host: self.host.clone() })
    }

    /// Waits until ranks 1 to `ranks - 1` are connected, and watches their lines from then on.
    pub fn gather(self, ranks: u32, patience: Duration, rules: ShutdownRules) -> io::Result<Watch> {
        let deadline = Instant::now() + patience;
        let mut lines: Vec<(Rank, TcpStream)> = Vec::new();
        while let Some(missing) = (1..ranks).find(|&rank| lines.iter().all(|(there, _)| there.0 != rank)) {
            let Some(stream) = self.accept_by(deadline)? else {
                let text = format!("rank {missing} has not connected to rank 0 within {patience:?}");
                return Err(io::Error::new(ErrorKind::TimedOut, text));
            };
            if let Some(rank) = self.introduced(&stream) {
                let is_new = lines.iter().all(|(there, _)| *there != rank);
                if is_new && (1..ranks).contains(&rank.0) {
                    lines.push((rank, stream));
                }
            }
        }
        Watch::start(lines, rules)
    }

    /// The next connection, if one arrives in time.
    fn accept_by(&self, deadline: Instant) -> io::Result<Option<TcpStream>> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => return Ok(Some(stream)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(None);
            }
            let wait = Timespec { tv_sec: rest.as_secs() as i64, tv_nsec: rest.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.listener, PollFlags::IN)], Some(&wait)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The rank that a connection belongs to; `None` if it does not know the token.
    fn introduced(&self, mut stream: &TcpStream) -> Option<Rank> {
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(INTRODUCTION)).ok()?;
        let mut bytes = [0; INTRODUCTION_BYTES];
        stream.read_exact(&mut bytes).ok()?;
        let (token, rank) = bytes.split_at(TOKEN_BYTES);
        let rank = u32::from_le_bytes(rank.try_into().ok()?);
        (token == self.token).then_some(Rank(rank))
    }
}

/// Connects this rank to rank 0, and watches the line from then on. `host` is the name of this host.
pub fn join(
    invitation: &Invitation,
    rank: Rank,
    host: &str,
    patience: Duration,
    rules: ShutdownRules,
) -> io::Result<Watch> {
    let port = invitation.port;
    let addresses: Vec<SocketAddr> = if invitation.host == host {
        vec![(Ipv4Addr::LOCALHOST, port).into()]
    } else {
        (invitation.host.as_str(), port).to_socket_addrs()?.collect()
    };
    let mut last = io::Error::new(ErrorKind::NotFound, format!("{} has no address", invitation.host));
    for address in addresses {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(mut stream) => {
                let mut introduction = [0; INTRODUCTION_BYTES];
                introduction[..TOKEN_BYTES].copy_from_slice(&invitation.token);
                introduction[TOKEN_BYTES..].copy_from_slice(&rank.0.to_le_bytes());
                stream.write_all(&introduction)?;
                return Watch::start(vec![(Rank::SCHEDULER, stream)], rules);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
