//! Scopes become `scope_stats.json`.

use std::borrow::Cow;
use std::io;

use ringlane_engine::limits::{FANIN_MAX, RINGS};
use ringlane_engine::stall::Deadlock;
use ringlane_task::{Resource, RingIndex, ScopeId, Ticks};
use ringlane_trace::ArtifactFile;
use ringlane_trace::rows::RowCounts;
use ringlane_trace::scopes::{Peak, ScopeFatal, ScopeNeed, ScopeRow, ScopeStall, ScopesWriter};

use super::{Export, Rows};
use crate::kinds;
use crate::scope_code::{self, ScopeRecord};
use crate::scopes::{NO_PARENT, RESOURCES};

impl Export<'_> {
    pub(super) fn scopes(&self, out: &mut ArtifactFile, rows: Rows) -> io::Result<RowCounts> {
        let fatal = self.facts.fatal.as_ref().map(fatal);
        let mut writer = ScopesWriter::new(out, fatal.as_ref());
        self.for_each_chunk(kinds::SCOPES, rows, |_, mut chunk| {
            while let Some(scope) = scope_code::next(&mut chunk) {
                writer.scope(&self.scope(&scope))?;
            }
            Ok(())
        })?;
        writer.finish(self.dropped(kinds::SCOPES, rows))
    }

    fn scope<'s>(&'s self, scope: &ScopeRecord<'s>) -> ScopeRow<'s> {
        let peaks = |of: usize| -> [Peak; RINGS] {
            core::array::from_fn(|ring| {
                let capacity = self.facts.capacities.get(RESOURCES[of], RingIndex(ring as u8));
                Peak { peak: scope.peaks[ring][of], capacity }
            })
        };
        let site = self.facts.sites.get(scope.site as usize).map_or("unknown:0", String::as_str);
        let [task_window, heap, dep_pool, args] = scope.need;
        let (heap_piece, args_piece) = (scope.heap_piece, scope.args_piece);
        let tensormap = self.facts.capacities.tensormap as u64;
        ScopeRow {
            scope: ScopeId(scope.scope),
            parent: (scope.parent != NO_PARENT).then_some(ScopeId(scope.parent)),
            site: Cow::Borrowed(site),
            label: Some(scope.label).filter(|label| !label.is_empty()).map(Cow::Borrowed),
            depth: scope.depth,
            ring: RingIndex((scope.depth as usize).min(RINGS - 1) as u8),
            tasks: scope.tasks,
            enter: self.ticks(scope.enter),
            exit: (scope.open == 0).then(|| self.ticks(scope.exit)),
            task_window: peaks(0),
            heap: peaks(1),
            dep_pool: peaks(2),
            args: peaks(3),
            tensormap: Peak { peak: scope.tensormap, capacity: tensormap },
            // A task with more predecessors than the limit waits for some of them before it is wired.
            fanin: Peak { peak: scope.fan_in.min(FANIN_MAX as u64), capacity: FANIN_MAX as u64 },
            need: ScopeNeed { task_window, heap, dep_pool, args, heap_piece, args_piece },
            stalls: Cow::Owned(stalls(scope)),
        }
    }
}

fn stalls(scope: &ScopeRecord<'_>) -> Vec<ScopeStall> {
    let mut found = Vec::new();
    for (ring, kinds) in scope.stalls.iter().enumerate() {
        for (&resource, stall) in RESOURCES.iter().zip(kinds).filter(|(_, stall)| stall.count > 0) {
            let ring = (resource != Resource::TensorMap).then_some(RingIndex(ring as u8));
            found.push(ScopeStall { ring, resource, count: stall.count, ticks: Ticks(stall.ticks) });
        }
    }
    found
}

fn fatal(deadlock: &Deadlock) -> ScopeFatal<'_> {
    let Deadlock { scope, scope_site, scope_label, ring, resource, used, capacity, need, .. } = deadlock;
    ScopeFatal {
        scope: ScopeId(*scope),
        site: Cow::Borrowed(scope_site),
        label: Some(scope_label.as_str()).filter(|label| !label.is_empty()).map(Cow::Borrowed),
        ring: (*resource != Resource::TensorMap).then_some(RingIndex(*ring)),
        resource: *resource,
        used: *used,
        capacity: *capacity,
        need: *need,
    }
}
