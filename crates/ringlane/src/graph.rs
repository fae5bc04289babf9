//! Captured graphs: a program that is submitted once and run as often as one likes.

use std::fmt;
use std::panic::Location;

use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
pub use ringlane_engine::graph::{Graph, MemoryPlan};
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::report::Run;
use ringlane_task::Ticks;

use crate::chips::Program;
use crate::runtime::{RESULT_STORED, Runtime, storing_result};

/// How the task graph of a run is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphRuntime {
    /// While tasks run, in memory bounded by the rings.
    #[default]
    TensormapAndRingbuffer,
    /// First, as a whole; then it is replayed.
    HostBuildGraph,
}

impl GraphRuntime {
    /// All of them; the first is the default.
    pub const ALL: [GraphRuntime; 2] = [GraphRuntime::TensormapAndRingbuffer, GraphRuntime::HostBuildGraph];

    /// The name on the command line and in every artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            GraphRuntime::TensormapAndRingbuffer => "tensormap_and_ringbuffer",
            GraphRuntime::HostBuildGraph => "host_build_graph",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|runtime| runtime.as_str() == name)
    }
}

impl fmt::Display for GraphRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Runtime {
    /// Captures an orchestration as a graph: every submit is checked, the dependencies are inferred and the memory of
    /// tensors is planned, but nothing runs. [`replay`](Self::replay) then runs it as often as you like, with the bytes
    /// that [`run`](Self::run) would produce. Values cannot be read during a capture (`ReadInCapture`).
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// kernel! { static SCALE = aiv fn(x: &[f32], y: &mut [f32], a: f32) {
    ///     y.iter_mut().zip(x).for_each(|(y, x)| *y = a * x);
    /// } }
    /// let mut data = Buffers::new();
    /// let x = data.add(&[2], &[3.0f32, 4.0])?;
    /// let y = data.add(&[2], &[0.0f32; 2])?;
    /// let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default())?;
    /// let mut graph = runtime.capture(&data, |o| {
    ///     let (x, y) = (o.external(x)?, o.external(y)?);
    ///     o.submit(&SCALE, [x.read(), y.write(), param("scale", 2.0f32)]).map(drop)
    /// })?;
    /// runtime.replay(&mut graph, &mut data).result?;
    /// assert_eq!(data.get::<f32>(y)?, [6.0, 8.0]);
    /// graph.set("scale", 0.5f32)?;
    /// runtime.replay(&mut graph, &mut data).result?;
    /// assert_eq!(data.get::<f32>(y)?, [1.5, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn capture<'e, R>(
        &mut self,
        buffers: &'e Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Result<Graph> {
        self.capture_from(Location::caller(), buffers, None, f).map(|(_, graph)| graph)
    }

    /// Like [`capture`](Self::capture), with `site` as the source location of the root scope and a limit on the memory
    /// of the tensors that the graph makes. Where they do not fit otherwise, edges are added. Also returns what the
    /// orchestration returned.
    pub fn capture_from<'e, R>(
        &mut self,
        site: Site,
        buffers: &'e Buffers<'_>,
        memory_limit: Option<u64>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Result<(R, Graph)> {
        let mut answer = None;
        let graph = self.chip.capture(site, buffers, memory_limit, &mut storing_result(f, &mut answer))?;
        Ok((answer.expect(RESULT_STORED), graph))
    }

    /// Runs a captured graph on these buffers, which have the types, shapes and permissions of those at the capture.
    /// Diagnostics, failures and interrupts work as in [`run`](Self::run).
    #[track_caller]
    pub fn replay(&mut self, graph: &mut Graph, buffers: &mut Buffers<'_>) -> Run<()> {
        self.run_any(buffers, Program::Graph(Location::caller(), graph))
    }

    /// What it takes to copy a graph to a modelled chip, once, before its first replay: no part of a replay's time.
    pub fn upload_ticks(&self, graph: &Graph) -> Option<Ticks> {
        self.chip.upload_ticks(graph)
    }
}

#[cfg(feature = "graph")]
pub(crate) use recorded::graph_facts;

#[cfg(feature = "record")]
mod recorded {
    use super::{Graph, Runtime};
    use crate::chips::Program;
    use crate::observe::ObservedRun;
    use ringlane_engine::api::backend::Site;
    use ringlane_engine::prelude::Buffers;
    use ringlane_task::Ticks;
    use ringlane_trace::{GraphFacts, RunDir};

    impl Runtime {
        /// Like [`replay`](Self::replay), recording into a directory that the caller has created, or not at all.
        pub fn replay_in(
            &mut self,
            dir: Option<&RunDir>,
            site: Site,
            graph: &mut Graph,
            buffers: &mut Buffers<'_>,
        ) -> ObservedRun<()> {
            self.observed(dir, buffers, Program::Graph(site, graph))
        }

        /// The graph of a replay, for `run.json`.
        pub fn graph_facts(&self, graph: &Graph) -> GraphFacts {
            graph_facts(graph, self.upload_ticks(graph))
        }
    }

    /// A graph, for `run.json`, with what it takes to copy it to the chip.
    pub(crate) fn graph_facts(graph: &Graph, upload: Option<Ticks>) -> GraphFacts {
        let plan = graph.memory();
        GraphFacts {
            edges: graph.edges(),
            graph_bytes: graph.bytes(),
            memory_bytes: plan.bytes,
            memory_sum_bytes: plan.sum,
            memory_lower_bound_bytes: plan.lower_bound,
            memory_limit_bytes: plan.limit,
            added_edges: plan.added_edges,
            upload_ticks: upload.map(|ticks| ticks.0),
        }
    }
}
