//! Lifelines between threads of this process.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use ringlane_node::remote::Rank;

use super::*;

const PATIENCE: Duration = Duration::from_secs(10);
const HARMLESS: Manners = Manners { grace: Duration::from_millis(100), last_chance: None };

/// Rank 0's watch and those of three others.
fn connected() -> (Watch, Vec<Watch>) {
    let gate = Gate::open(Reach::ThisHost, "here").unwrap();
    let invitation = gate.invitation().unwrap();
    let joining: Vec<_> = (1..4)
        .map(|rank| {
            let invitation = invitation.clone();
            thread::spawn(move || join(&invitation, Rank(rank), "here", PATIENCE, HARMLESS).unwrap())
        })
        .collect();
    let watch = gate.gather(4, PATIENCE, HARMLESS).unwrap();
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
fn the_rank_whose_line_ends_is_named_and_the_others_hear_of_rank_0() {
    let (zero, others) = connected();
    assert_eq!(zero.end(), None);
    kill(&others[1]);
    assert_eq!(end_of(&zero), Some(End::Died(Rank(2))));
    kill(&zero);
    assert_eq!(end_of(&others[0]), Some(End::Died(Rank(0))));
}

#[test]
fn a_line_is_not_ended_by_a_rank_that_has_seen_an_end_and_lives() {
    let (zero, others) = connected();
    kill(&others[1]);
    assert_eq!(end_of(&zero), Some(End::Died(Rank(2))));
    // It still has to say so.
    drop(zero);
    thread::sleep(Duration::from_millis(200));
    assert_eq!((others[0].end(), others[2].end()), (None, None));
}

#[test]
fn a_rank_that_says_goodbye_has_not_died() {
    let (zero, mut others) = connected();
    let third = others.pop().unwrap();
    for other in others {
        other.leave();
    }
    kill(&third);
    assert_eq!(end_of(&zero), Some(End::Died(Rank(3))));
}

#[test]
fn a_rank_that_never_connects_is_named_and_strangers_do_not_count() {
    let gate = Gate::open(Reach::ThisHost, "here").unwrap();
    let invitation = gate.invitation().unwrap();
    let _one = join(&invitation, Rank(1), "here", PATIENCE, HARMLESS).unwrap();
    let mut stranger = TcpStream::connect(("127.0.0.1", invitation.port)).unwrap();
    stranger.write_all(&[2; 20]).unwrap();
    // Knows the token, but is nobody who was invited.
    let _high = join(&invitation, Rank(7), "here", PATIENCE, HARMLESS).unwrap();
    let error = gate.gather(3, Duration::from_millis(200), HARMLESS).unwrap_err();
    assert!(error.to_string().starts_with("rank 2 has not connected"), "{error}");
}

#[test]
fn an_invitation_arrives_as_it_was_sent() {
    let mut invitation = Gate::open(Reach::AnyHost, "a.host").unwrap().invitation().unwrap();
    assert_eq!(Invitation::from_bytes(&invitation.to_bytes()), Some(invitation.clone()));
    invitation.host = String::new();
    let mut bytes = invitation.to_bytes();
    assert_eq!(Invitation::from_bytes(&bytes), Some(invitation));
    bytes[18] = 1;
    bytes[19] = 0xff;
    assert_eq!(Invitation::from_bytes(&bytes), None);
}
