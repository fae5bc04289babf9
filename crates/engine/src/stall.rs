//! Waiting for a ring, and knowing at once when the wait would never end.
//!
//! Rings are reclaimed oldest first, so a wait is a deadlock if and only if the oldest entry that is not reclaimed
//! belongs to a scope that is still open: only the submitter could end that scope, and the submitter is what waits. For
//! the tensor map this must hold on every ring that holds entries. No clock is involved.

#![forbid(unsafe_code)]

use ringlane_task::{Capacities, RINGS, Resource};

use crate::api::backend::Site;
use crate::counting::Counting;
use crate::fault::{Fault, Result};
use crate::orchestrator::{Orchestrator, ring_index};
use crate::scope::Scope;
use crate::seams::{Chip, Probe};
use crate::table::Stop;

/// How far the counting after a deadlock got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// To the end of the scopes on that ring: the need is complete.
    ToScopeEnd,
    /// Up to a value that had to be read: more may follow.
    ToRead,
}

/// A wait that would never have ended: which scope, on which ring, exhausted which resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The scope that holds the oldest entry.
    pub scope: u32,
    /// Where it was opened.
    pub scope_site: String,
    /// Its label; empty without one.
    pub scope_label: String,
    /// How deep it is; the root scope has depth 0.
    pub depth: usize,
    /// The source line of the submit that had to wait.
    pub submit_site: String,
    /// The ring.
    pub ring: u8,
    /// What ran out.
    pub resource: Resource,
    /// How much of it was in use.
    pub used: u64,
    /// How much there is.
    pub capacity: u64,
    /// How much the open scopes need at once, as far as was counted.
    pub need: u64,
    /// How far that was.
    pub counted: Counted,
    /// The option's value that suffices, ready to paste.
    pub option: String,
}

impl Deadlock {
    /// Which scope, on which ring, exhausted which resource.
    pub fn detail(&self) -> String {
        let Deadlock { scope_site, scope_label, submit_site, ring, resource, used, capacity, need, .. } =
            self;
        let label = if scope_label.is_empty() { String::new() } else { format!(" {scope_label:?}") };
        format!(
            "scope {scope_site}{label} on ring {ring}: {resource} {used}/{capacity}, {need} needed; \
             stopped at the submit in {submit_site}"
        )
    }

    /// The capacity that suffices, and the scope to split.
    pub fn hint(&self) -> String {
        let counted = match self.counted {
            Counted::ToScopeEnd => "counted to the end of the scope",
            Counted::ToRead => "counted up to the next value read; more may follow",
        };
        format!(
            "rerun with {} ({counted}), or split the scope: put `o.scope(|o| {{ …; Ok(()) }})?` around the body of \
             the loop that submits at {}{}",
            self.resource.setting(&self.option),
            self.submit_site,
            self.shared_ring_hint()
        )
    }

    /// What else can be done on the last ring, which scopes of several depths share.
    fn shared_ring_hint(&self) -> String {
        const LAST: usize = RINGS - 1;
        if self.resource == Resource::TensorMap || self.depth < LAST {
            return String::new();
        }
        format!(
            "; scopes at depth {LAST} and deeper share ring {LAST}, where nothing that inner scopes submit after the first task of \
             this scope (depth {}) is reclaimed before this scope ends: submit and alloc in this scope only after its inner \
             scopes have ended, or before this scope, at depth {} or less",
            self.depth,
            LAST - 1
        )
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Lets something happen that may free `wanted` of a resource; an error if nothing ever will.
    #[cold]
    pub(crate) fn wait_for(
        &mut self,
        ring: usize,
        resource: Resource,
        wanted: u64,
        site: Site,
    ) -> Result<()> {
        let freed = match resource {
            Resource::TensorMap => {
                (0..RINGS).rev().map(|ring| self.reclaim(ring)).filter(|&freed| freed).count() > 0
            }
            _ => self.reclaim(ring),
        };
        if freed {
            return Ok(());
        }
        if self.table.stopped() {
            return Err(self.over());
        }
        if C::CAPTURES {
            return Err(self.graph_too_large(ring, resource, site));
        }
        if self.is_deadlock(ring, resource) {
            return Err(self.enter_counting_mode(ring, resource, wanted, site));
        }
        self.show_fill();
        self.probe.stall_begin();
        self.chip.relax();
        self.probe.stall_end(ring_index(ring), resource, self.seq);
        Ok(())
    }

    fn is_deadlock(&self, ring: usize, resource: Resource) -> bool {
        let open = self.open_from();
        let stuck = |r: usize| self.state.rings[r].tail >= open[r];
        let occupied = |r: usize| self.state.rings[r].used() > 0;
        match resource {
            Resource::TensorMap => (0..RINGS).filter(|&r| occupied(r)).all(stuck),
            _ => stuck(ring),
        }
    }

    /// The open scope that keeps the ring (or, for the tensor map, the most entries) from being reclaimed.
    fn culprit(&self, ring: usize, resource: Resource) -> &Scope {
        let scopes = self.state.scopes.iter();
        let found = match resource {
            Resource::TensorMap => scopes.max_by_key(|s| self.state.rings[s.ring].head - s.entry.slots),
            _ => scopes.filter(|s| s.ring == ring && s.first.is_some()).min_by_key(|s| s.first),
        };
        found.or(self.state.scopes.last()).expect("the root scope is open while the orchestration runs")
    }

    /// The error of a task that needs more of a resource than its ring has in all.
    #[cold]
    pub(crate) fn too_large(&self, resource: Resource, ring: usize, needs: u64, site: Site) -> crate::Error {
        let capacities = &self.table.capacities;
        let capacity = capacities.get(resource, ring_index(ring));
        let enough = core::array::from_fn(|r| if r == ring { needs } else { 0 });
        let option = option_value(capacities, resource, enough);
        Fault::TaskTooLarge { resource, ring: ring as u8, needs, capacity, option, site: place(site) }.into()
    }

    /// The error of a captured graph that does not fit its table, in which nothing is reclaimed.
    #[cold]
    pub(crate) fn graph_too_large(&mut self, ring: usize, resource: Resource, site: Site) -> crate::Error {
        let capacity = self.table.capacities.get(resource, ring_index(ring));
        let enough = core::array::from_fn(|r| if r == ring { 2 * capacity } else { 0 });
        let option = option_value(&self.table.capacities, resource, enough);
        let (ring, tasks, site) = (ring as u8, self.seq, place(site));
        self.abort_run(Fault::GraphTooLarge { resource, ring, capacity, tasks, option, site }.into())
    }

    /// Stops the run; from here on submits are only counted.
    fn enter_counting_mode(
        &mut self,
        ring: usize,
        resource: Resource,
        wanted: u64,
        site: Site,
    ) -> crate::Error {
        let rings = &self.state.rings[ring];
        let (used, capacity) = match resource {
            Resource::TaskWindow => (rings.used(), rings.window),
            Resource::Heap => (rings.heap.used(), rings.heap.capacity()),
            Resource::DepPool => (rings.edges_used(), rings.edges_capacity),
            Resource::Args => (rings.args.used(), rings.args.capacity()),
            Resource::TensorMap => (self.state.map.used(), self.state.map.capacity()),
        };
        let culprit = self.culprit(ring, resource);
        let deadlock = Deadlock {
            scope: culprit.id,
            scope_site: place(culprit.site),
            scope_label: culprit.label.of(&self.state.scope_labels).to_string(),
            depth: self.state.scopes.iter().position(|scope| scope.id == culprit.id).unwrap_or(0),
            submit_site: place(site),
            ring: culprit.ring as u8,
            resource,
            used,
            capacity,
            need: used + wanted,
            counted: Counted::ToScopeEnd,
            option: String::new(),
        };
        self.table.stop(Stop::Fatal);
        if self.probe.sees_scopes() {
            self.observe_fatal();
        }
        self.state.map.lift_capacity();
        let mut counting = Counting::new(deadlock, self.table.capacities);
        counting.note(self.state);
        let verdict = counting.verdict();
        self.counting = Some(Box::new(counting));
        verdict
    }
}

/// A site as `file:line`.
pub(crate) fn place(site: Site) -> String {
    format!("{}:{}", site.file(), site.line())
}

/// An option's value: the smallest power of two that is enough on every ring, or one for each ring where that would
/// take something away from one.
pub(crate) fn option_value(capacities: &Capacities, resource: Resource, enough: [u64; RINGS]) -> String {
    let now: [u64; RINGS] = core::array::from_fn(|ring| capacities.get(resource, ring_index(ring)));
    let each: [u64; RINGS] = core::array::from_fn(|ring| match enough[ring] {
        enough if enough <= now[ring] => now[ring],
        enough => enough.next_power_of_two(),
    });
    let most = enough.iter().max().copied().unwrap_or(0).next_power_of_two();
    if resource == Resource::TensorMap || now.iter().all(|&capacity| capacity <= most) {
        return most.to_string();
    }
    each.map(|capacity| capacity.to_string()).join(",")
}
