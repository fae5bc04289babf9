//! Memory order and wake-ups of the door, on the shipped types: what a side writes before its step is read by the other
//! after it without a race, and nobody sleeps for ever.
#![allow(unsafe_code)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::door::{Door, Meaning, Patience, Side, Spin, Waited};
use super::state::State;

const SLEEPY: Patience = Patience { spin: Spin::NONE, deadline: None };

/// A door, and a word in place of everything else in a mailbox. Loom ends the test if both sides touch it at once.
struct Model {
    door: Door,
    body: UnsafeCell<u32>,
}

impl Model {
    fn new() -> Arc<Self> {
        Arc::new(Model { door: Door::new(), body: UnsafeCell::new(0) })
    }

    fn write(&self, value: u32) {
        // SAFETY: the pointer is that of a live cell, and loom watches who uses it.
        self.body.with_mut(|body| unsafe { *body = value });
    }

    fn read(&self) -> u32 {
        // SAFETY: the pointer is that of a live cell, and loom watches who uses it.
        self.body.with(|body| unsafe { *body })
    }

    fn wait(&self, side: Side, wanted: &[State]) -> State {
        let meaning = |state| if wanted.contains(&state) { Meaning::Take } else { Meaning::Wait };
        match self.door.wait(side, SLEEPY, meaning, || false).unwrap() {
            Waited::For(state) => state,
            other => panic!("{other:?}"),
        }
    }
}

fn child(model: &Model) {
    model.door.step_and_ring(Side::Child, State::Starting, State::Idle).unwrap();
    while model.wait(Side::Child, &[State::Ready, State::Shutdown]) == State::Ready {
        let argument = model.read();
        model.door.step(State::Ready, State::Accepted).unwrap();
        model.door.step(State::Accepted, State::Running).unwrap();
        model.write(argument + 1);
        model.door.step_and_ring(Side::Child, State::Running, State::Done).unwrap();
    }
}

fn call(model: &Model, argument: u32) -> u32 {
    model.write(argument);
    model.door.step_and_ring(Side::Parent, State::Idle, State::Ready).unwrap();
    model.wait(Side::Parent, &[State::Done]);
    let answer = model.read();
    model.door.step(State::Done, State::Idle).unwrap();
    answer
}

fn model(calls: u32) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let model = Model::new();
        let theirs = model.clone();
        let child = thread::spawn(move || child(&theirs));
        model.wait(Side::Parent, &[State::Idle]);
        for argument in 0..calls {
            assert_eq!(call(&model, argument), argument + 1);
        }
        model.door.step_and_ring(Side::Parent, State::Idle, State::Shutdown).unwrap();
        child.join().unwrap();
    });
}

#[test]
fn loom_a_call_goes_there_and_back_and_nobody_oversleeps() {
    model(1);
}

#[test]
fn loom_a_child_without_calls_starts_and_ends() {
    model(0);
}

#[test]
fn loom_the_bell_wakes_the_side_that_announced_a_sleep() {
    loom::model(|| {
        let model = Model::new();
        let theirs = model.clone();
        let ringer = thread::spawn(move || {
            theirs.write(1);
            theirs.door.step_and_ring(Side::Child, State::Starting, State::Idle).unwrap();
        });
        model.wait(Side::Parent, &[State::Idle]);
        assert_eq!(model.read(), 1);
        ringer.join().unwrap();
    });
}
