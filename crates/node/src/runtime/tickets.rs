//! What a submit asks for beside its arguments: a configuration and a worker. A task carries the number of its ticket.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use ringlane_task::CallConfig;

/// Which worker a call goes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum On {
    /// Any idle one of the callable's kind.
    #[default]
    Any,
    /// This one.
    Worker(u32),
    /// These: one for each member of a group, in order.
    Workers(Vec<u32>),
}

/// What a submit asks for.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    pub(crate) config: CallConfig,
    pub(crate) on: On,
}

/// The tickets of a run, each once; shared by the orchestration and the chip, which are on one thread.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    all: RefCell<Vec<Ticket>>,
    /// By what they say.
    numbers: RefCell<HashMap<(Vec<u8>, On), u64>>,
    /// The one that was asked for last: most ask for the same again.
    last: Cell<Option<u64>>,
    /// When the submit that goes on began.
    submitting_ns: Cell<u64>,
}

impl Tickets {
    /// The number of a ticket that says this.
    pub(crate) fn number(&self, config: &CallConfig, on: &On) -> u64 {
        let says_so = |ticket: &Ticket| ticket.config == *config && ticket.on == *on;
        if let Some(last) = self.last.get().filter(|&last| says_so(&self.all.borrow()[last as usize])) {
            return last;
        }
        let key = (config.as_wire().to_vec(), on.clone());
        let number = *self.numbers.borrow_mut().entry(key).or_insert_with(|| {
            let mut all = self.all.borrow_mut();
            all.push(Ticket { config: *config, on: on.clone() });
            all.len() as u64 - 1
        });
        self.last.set(Some(number));
        number
    }

    /// The ticket with this number.
    pub(crate) fn get(&self, number: u64) -> Option<Ticket> {
        self.all.borrow().get(usize::try_from(number).ok()?).cloned()
    }

    pub(crate) fn begin_submit(&self, now_ns: u64) {
        self.submitting_ns.set(now_ns);
    }

    pub(crate) fn submitting_ns(&self) -> u64 {
        self.submitting_ns.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tickets_have_one_number() {
        let (tickets, config) = (Tickets::default(), CallConfig::default());
        let first = tickets.number(&config, &On::Any);
        assert_eq!(tickets.number(&config, &On::Any), first);
        assert_ne!(tickets.number(&config, &On::Worker(0)), first);
        assert_ne!(tickets.number(&config.with_seed(1), &On::Any), first);
        assert_eq!(tickets.get(first).unwrap().on, On::Any);
        assert!(tickets.get(99).is_none());
    }
}
