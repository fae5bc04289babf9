//! Tasks as they were submitted: where, with which arguments, and which task waits for which and why.
//!
//! Sites and the shapes of views repeat, so they are stored once, in [`Names`], and columns hold their positions.

use std::collections::HashMap;
use std::hash::Hash;

use ringlane_insight::timeline::{TaskIndex, Timeline};
use ringlane_insight::{Instrument, Run};
use ringlane_task::Access;
use ringlane_trace::deps::{
    Deps, DepsArg, DepsEdge, DepsTask, EdgeSource, Hazard, Inference, Origin, Overlap,
};
use ringlane_trace::rows::ViewRow;
use ringlane_trace::scopes::Scopes;
use serde::Serialize;

use super::{Detail, NoteKind, Page, exact, grouped};
use crate::page::columns::Coding::{Delta, Maybe, Plain, Signed};
use crate::page::columns::{Column, ColumnWriter};
use crate::page::limits::EDGES_MAX;

/// What columns refer to by its place.
#[derive(Default, Serialize)]
pub struct Names {
    /// `file:line` of submits.
    sites: Vec<String>,
    /// Names that submits gave to tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<String>,
    /// Labels of scopes, one for each band.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) bands: Vec<String>,
    /// Types, shapes and strides of arguments.
    forms: Vec<Form>,
    accesses: Vec<&'static str>,
    sources: Vec<&'static str>,
    hazards: Vec<&'static str>,
    overlaps: Vec<&'static str>,
    origins: Vec<&'static str>,
    pub(super) phases: Vec<&'static str>,
}

#[derive(Serialize)]
struct Form {
    dtype: &'static str,
    shape: Vec<u64>,
    /// Absent where the elements are contiguous.
    #[serde(skip_serializing_if = "Option::is_none")]
    strides: Option<Vec<u64>>,
}

/// Numbers things in the order of first use.
struct Places<K> {
    known: HashMap<K, i64>,
}

impl<K: Hash + Eq> Places<K> {
    fn new() -> Self {
        Places { known: HashMap::new() }
    }

    /// The place of a thing; `add` is called the first time.
    fn of(&mut self, thing: K, add: impl FnOnce()) -> i64 {
        let next = self.known.len() as i64;
        *self.known.entry(thing).or_insert_with(|| {
            add();
            next
        })
    }
}

impl Page {
    /// Adds what is known of submits and edges, unless there are too many tasks.
    pub(super) fn add_edges(
        &mut self,
        run: &Run,
        timeline: &Timeline,
        scopes: Option<&Scopes>,
        detail: Detail,
    ) {
        if detail == Detail::Lean {
            return;
        }
        match self.table(Instrument::Deps, run.dependencies()) {
            Some(deps) => {
                self.add_submits(timeline, &deps);
                self.add_reasons(timeline, &deps.edges);
                if let Some(scopes) = scopes {
                    self.add_labels(timeline, &deps.tasks, scopes);
                }
            }
            None => self.add_pairs(timeline),
        }
    }

    fn add_submits(&mut self, timeline: &Timeline, deps: &Deps) {
        let mut rows: Vec<Option<&DepsTask<'_>>> = vec![None; timeline.tasks.len()];
        for task in &deps.tasks {
            if let Some(at) = timeline.find(task.task_id) {
                rows[at.at()] = Some(task);
            }
        }
        let names = &mut self.run.names;
        let mut sites = Places::new();
        let mut site = ColumnWriter::new("tasks.site", Maybe);
        for row in &rows {
            site.push_maybe(row.map(|task| sites.of(&task.site, || names.sites.push(task.site.to_string()))));
        }
        let mut labels = Places::new();
        let mut label = ColumnWriter::new("tasks.label", Maybe);
        for row in &rows {
            let given = row.and_then(|task| task.label.as_ref());
            label.push_maybe(given.map(|given| labels.of(given, || names.labels.push(given.to_string()))));
        }
        if !names.labels.is_empty() {
            self.columns.push(label.finish());
        }
        let of = |name, coding, of: fn(&DepsTask<'_>) -> i64| {
            Column::of(name, coding, rows.iter().map(|row| row.map_or(0, of)))
        };
        self.columns.extend([
            site.finish(),
            of("tasks.scope", Delta, |task| i64::from(task.scope.0)),
            of("tasks.blocks", Plain, |task| i64::from(task.block_num)),
            of("tasks.manual", Plain, |task| i64::from(task.inference == Inference::Manual)),
            of("tasks.args", Plain, |task| task.args.len() as i64),
        ]);
        self.add_args(rows.iter().flatten().flat_map(|task| task.args.iter()));
        let tensors = &deps.tensors;
        self.run.names.origins = Origin::ALL.iter().map(|origin| origin.as_str()).collect();
        let tensors = Column::of_rows("tensors", Delta, tensors.iter().map(Some), |name| name != "tensor");
        self.columns.extend(tensors);
    }

    fn add_args<'a>(&mut self, args: impl Iterator<Item = &'a DepsArg> + Clone) {
        let names = &mut self.run.names;
        let (mut forms, mut accesses) = (Places::new(), Places::<Access>::new());
        let mut form = ColumnWriter::new("args.form", Plain);
        let mut access = ColumnWriter::new("args.access", Plain);
        for arg in args.clone() {
            // Equal but for the offset, which has a column of its own.
            let mut view = arg.view;
            view.offset = 0;
            form.push(forms.of(view, || names.forms.push(Form::of(&view))));
            access.push(accesses.of(arg.access, || names.accesses.push(arg.access.as_str())));
        }
        self.columns.extend([
            Column::of("args.index", Plain, args.clone().map(|arg| i64::from(arg.index))),
            access.finish(),
            Column::of("args.tensor", Delta, args.clone().map(|arg| i64::from(arg.tensor.0))),
            form.finish(),
            Column::of("args.offset", Plain, args.map(|arg| exact(arg.view.offset))),
        ]);
    }

    /// Edges with their reasons, by the task that waits.
    fn add_reasons(&mut self, timeline: &Timeline, edges: &[DepsEdge]) {
        let place = |edge: &DepsEdge| Some((timeline.find(edge.succ)?, timeline.find(edge.pred)?));
        let mut rows: Vec<(TaskIndex, TaskIndex, &DepsEdge)> = edges
            .iter()
            .filter_map(|edge| place(edge).map(|(after, before)| (after, before, edge)))
            .collect();
        if self.too_many(rows.len()) {
            return;
        }
        rows.sort_by_key(|&(after, before, _)| (after, before));
        self.add_ends(timeline, rows.iter().map(|&(after, before, _)| (after, before)));
        let names = &mut self.run.names;
        names.sources = EdgeSource::ALL.iter().map(|source| source.as_str()).collect();
        names.hazards = Hazard::ALL.iter().map(|hazard| hazard.as_str()).collect();
        names.overlaps = Overlap::ALL.iter().map(|overlap| overlap.as_str()).collect();
        let edges = rows.iter().map(|&(_, _, edge)| Some(edge));
        let own = |name: &str| !["pred", "succ", "cause"].contains(&name);
        self.columns.extend(Column::of_rows("edges.row", Delta, edges, own));
        let causes = rows.iter().map(|(_, _, edge)| edge.cause.as_ref());
        self.columns.extend(Column::of_rows("edges.row", Delta, causes, |_| true));
    }

    /// Edges without reasons, as the engine wired them.
    fn add_pairs(&mut self, timeline: &Timeline) {
        if timeline.edges.is_empty() || self.too_many(timeline.edges.len()) {
            return;
        }
        self.add_ends(timeline, timeline.edges.pairs().map(|(before, after)| (after, before)));
    }

    /// How many edges lead to each task, and from how far back each comes.
    fn add_ends(&mut self, timeline: &Timeline, ends: impl Iterator<Item = (TaskIndex, TaskIndex)>) {
        let mut counts = vec![0; timeline.tasks.len()];
        let mut back = ColumnWriter::new("edges.back", Signed);
        for (after, before) in ends {
            counts[after.at()] += 1;
            back.push(i64::from(after.0) - i64::from(before.0));
        }
        self.columns.extend([Column::of("tasks.producers", Plain, counts), back.finish()]);
    }

    fn too_many(&mut self, edges: usize) -> bool {
        if edges > EDGES_MAX {
            let text = format!(
                "The run has {} edges; a page can have at most {}. ringlane deps --task ID shows them.",
                grouped(edges),
                grouped(EDGES_MAX)
            );
            self.note(Instrument::Deps, NoteKind::LeftOut, text);
        }
        edges > EDGES_MAX
    }
}

impl Form {
    fn of(view: &ViewRow) -> Self {
        let strides = (!view.is_contiguous()).then(|| view.strides().collect());
        Form { dtype: view.dtype.as_str(), shape: view.shape().collect(), strides }
    }
}
