//! Lifelines between threads of this process.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use ringlane_node::remote::Rank;

use super::*;

const PATIENCE: Duration = Duration::from_secs(10);
const HARMLESS: ShutdownRules = ShutdownRules { grace: Duration::from_millis(100), kill_after: None };

/// Rank 0's watch and those of three others.
fn connected() -> (Watch, Vec<Watch>) {
    let listener = Listener::open(Reach::ThisHost, "here").unwrap();
    let invitation = listener.invitation().unwrap();
    let joining: Vec<_> = (1..4)
        .map(|rank| {
            let invitation = invitation.clone();
            thread::spawn(move || join(&invitation, Rank(rank), "here", PATIENCE, HARMLESS).unwrap())
        })
        .collect();
    let watch = listener.gather(4, PATIENCE, HARMLESS).unwrap();
    (watch, joining.into_iter().map(|thread| thread.join().unwrap()).collect())
}

/// Closes a rank's line as the kernel does it for a process that has ended.
fn kill(watch: &Watch) {
    watch.lines_of_this_test().for_each(|line| line.shutdown(std::net::Shutdown::Both).unwrap());
}

fn end_of(watch: &Watch) -> Option<End> {
    let start = Instant::now();
    while watch.end().is_none() && start.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(1));
    }
    watch.end()
}

#[test]
fn the_rank_whose_line_ends_is_named_and_the_others_see_the_end_of_rank_0() {
    let (zero, others) = connected();
    assert_eq!(zero.end(), None);
    kill(&others[1]);
    assert_eq!(end_of(&zero), Some(End::Died(Rank(2))));
    kill(&zero);
    assert_eq!(end_of(&others[0]), Some(End::Died(Rank(0))));
}

#[test]
fn a_rank_that_sees_the_end_of_another_keeps_its_own_line_open() {
    let (zero, others) = connected();
    kill(&others[1]);
    assert_eq!(end_of(&zero), Some(End::Died(Rank(2))));
    // It still has to send its goodbye.
    drop(zero);
    thread::sleep(Duration::from_millis(200));
    assert_eq!((others[0].end(), others[2].end()), (None, None));
}

#[test]
fn a_rank_that_sends_a_goodbye_is_not_reported_as_dead() {
    let (zero, mut others) = connected();
    let third = others.pop().unwrap();
    for other in others {
        other.leave();
    }
    kill(&third);
    assert_eq!(end_of(&zero), Some(End::Died(Rank(3))));
}

#[test]
fn a_rank_that_never_connects_is_named_and_other_connections_are_ignored() {
    let listener = Listener::open(Reach::ThisHost, "here").unwrap();
    let invitation = listener.invitation().unwrap();
    let _one = join(&invitation, Rank(1), "here", PATIENCE, HARMLESS).unwrap();
    let mut stranger = TcpStream::connect(("127.0.0.1", invitation.port)).unwrap();
    stranger.write_all(&[2; 20]).unwrap();
    // Knows the token, but has the number of no expected rank.
    let _high = join(&invitation, Rank(7), "here", PATIENCE, HARMLESS).unwrap();
    let error = listener.gather(3, Duration::from_millis(200), HARMLESS).unwrap_err();
    assert!(error.to_string().starts_with("rank 2 has not connected"), "{error}");
}

#[test]
fn an_invitation_arrives_as_it_was_sent() {
    let mut invitation = Listener::open(Reach::AnyHost, "a.host").unwrap().invitation().unwrap();
    assert_eq!(Invitation::from_bytes(&invitation.to_bytes()), Some(invitation.clone()));
    invitation.host = String::new();
    let mut bytes = invitation.to_bytes();
    assert_eq!(Invitation::from_bytes(&bytes), Some(invitation));
    bytes[18] = 1;
    bytes[19] = 0xff;
    assert_eq!(Invitation::from_bytes(&bytes), None);
}
