//! When scopes were open, for the band below the lanes.

use std::collections::BTreeMap;

use ringlane_insight::Instrument;
use ringlane_trace::scopes::{ScopeRow, Scopes};

use super::{NoteKind, Page, exact, grouped, tick};
use crate::page::columns::Coding::{Delta, Maybe, Plain};
use crate::page::columns::{Column, ColumnWriter};
use crate::page::limits::{EXACT_MAX, SCOPES_MAX};

impl Page {
    /// When scopes were open, depth by depth in the order of time; of too many the longest.
    pub(super) fn add_band(&mut self, scopes: &Scopes, sites: &mut Vec<String>) {
        let end = self.run.manifest.makespan_ticks.min(EXACT_MAX) as i64;
        let took = |row: &ScopeRow<'_>| row.exit.map_or(end, tick) - tick(row.enter);
        let mut rows: Vec<&ScopeRow<'_>> = scopes.scopes.iter().collect();
        if rows.len() > SCOPES_MAX {
            let text = format!(
                "Of {} scopes, the swimlane shows the {} longest.",
                grouped(rows.len()),
                grouped(SCOPES_MAX)
            );
            self.note(Instrument::Scopes, NoteKind::LeftOut, text);
            rows.sort_by_key(|row| std::cmp::Reverse(took(row)));
            rows.truncate(SCOPES_MAX);
        }
        rows.sort_by_key(|row| (row.depth, row.enter, row.scope));
        let mut places: BTreeMap<String, i64> = BTreeMap::new();
        let mut site = ColumnWriter::new("scopes.site", Plain);
        for row in &rows {
            let next = places.len() as i64;
            let name = row.place();
            let place = *places.entry(name).or_insert_with_key(|name| {
                sites.push(name.clone());
                next
            });
            site.push(place);
        }
        let mut exits = ColumnWriter::new("scopes.took", Maybe);
        rows.iter().for_each(|row| exits.push_maybe(row.exit.map(|_| took(row))));
        let of = |name, coding, of: fn(&ScopeRow<'_>) -> i64| {
            Column::of(name, coding, rows.iter().map(|row| of(row)))
        };
        self.columns.extend([
            of("scopes.id", Delta, |row| i64::from(row.scope.0)),
            of("scopes.depth", Delta, |row| i64::from(row.depth)),
            of("scopes.enter", Delta, |row| tick(row.enter)),
            exits.finish(),
            site.finish(),
            of("scopes.tasks", Plain, |row| exact(row.tasks)),
            of("scopes.ring", Plain, |row| i64::from(row.ring.0)),
        ]);
    }
}
