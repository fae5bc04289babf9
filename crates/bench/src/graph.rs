//! A workload as data: its tasks in submission order, with the buffers they access.

/// One of a graph's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferIndex(pub u32);

/// The accesses of a task: at most two buffers read, at most one read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Nothing.
    Free,
    /// One buffer, read and written.
    Update(BufferIndex),
    /// One buffer, read.
    Read(BufferIndex),
    /// The first is read, the second is read and written.
    ReadUpdate(BufferIndex, BufferIndex),
    /// The first two are read, the third is read and written.
    Read2Update([BufferIndex; 2], BufferIndex),
}

impl Task {
    /// The buffers that are only read.
    pub fn reads(&self) -> &[BufferIndex] {
        match self {
            Task::Free | Task::Update(_) => &[],
            Task::Read(from) | Task::ReadUpdate(from, _) => std::slice::from_ref(from),
            Task::Read2Update(from, _) => from,
        }
    }

    /// The buffer that is read and written.
    pub fn updates(&self) -> Option<BufferIndex> {
        match *self {
            Task::Free | Task::Read(_) => None,
            Task::Update(to) | Task::ReadUpdate(_, to) | Task::Read2Update(_, to) => Some(to),
        }
    }
}

/// Tasks over buffers. Every order that respects the accesses gives the same result as the order of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// In submission order.
    pub tasks: Vec<Task>,
    /// The number of buffers.
    pub buffers: u32,
}

impl Graph {
    /// A graph without tasks.
    pub fn over(buffers: u32) -> Self {
        Graph { tasks: Vec::new(), buffers }
    }

    /// Adds a task that reads some buffers (at most two) and updates one.
    pub fn add(&mut self, reads: &[u32], updates: u32) {
        let to = BufferIndex(updates);
        self.tasks.push(match *reads {
            [] => Task::Update(to),
            [a] => Task::ReadUpdate(BufferIndex(a), to),
            [a, b] => Task::Read2Update([BufferIndex(a), BufferIndex(b)], to),
            _ => unreachable!("no workload reads more than two buffers in one task"),
        });
    }
}

/// The edges that a graph's accesses imply, computed without the engine: the reference of `--verify`.
#[derive(Clone, Debug)]
pub struct Edges {
    /// The start of each task's predecessors in `predecessors`; one more than there are tasks.
    starts: Vec<u32>,
    predecessors: Vec<u32>,
    /// Tasks on the longest path.
    pub critical_tasks: u32,
}

impl Edges {
    /// A read depends on the last writer, a write on the readers since then (or on the writer, if there are none).
    pub fn of(graph: &Graph) -> Self {
        let mut writers: Vec<Option<u32>> = vec![None; graph.buffers as usize];
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); graph.buffers as usize];
        let mut depths = Vec::with_capacity(graph.tasks.len());
        let mut edges = Edges { starts: vec![0], predecessors: Vec::new(), critical_tasks: 0 };
        for (index, task) in graph.tasks.iter().enumerate() {
            let mut follows: Vec<u32> =
                task.reads().iter().filter_map(|from| writers[from.0 as usize]).collect();
            if let Some(BufferIndex(to)) = task.updates() {
                let since = &mut readers[to as usize];
                follows.extend(if since.is_empty() { writers[to as usize] } else { None });
                follows.append(since);
                writers[to as usize] = Some(index as u32);
            }
            for from in task.reads() {
                readers[from.0 as usize].push(index as u32);
            }
            follows.sort_unstable();
            follows.dedup();
            let depth = 1 + follows.iter().map(|&before| depths[before as usize]).max().unwrap_or(0);
            edges.critical_tasks = edges.critical_tasks.max(depth);
            depths.push(depth);
            edges.predecessors.append(&mut follows);
            edges.starts.push(edges.predecessors.len() as u32);
        }
        edges
    }

    /// The number of edges.
    pub fn count(&self) -> usize {
        self.predecessors.len()
    }

    /// The predecessors of a task.
    pub fn before(&self, task: u32) -> &[u32] {
        let bounds = [task, task + 1].map(|at| self.starts[at as usize] as usize);
        &self.predecessors[bounds[0]..bounds[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_depends_on_the_writer_and_a_write_on_the_readers_since() {
        let mut graph = Graph::over(2);
        graph.add(&[], 0);
        graph.tasks.extend([Task::Read(BufferIndex(0)); 2]);
        graph.add(&[], 0);
        graph.add(&[0], 1);
        let edges = Edges::of(&graph);
        let before: Vec<&[u32]> = (0..5).map(|task| edges.before(task)).collect();
        assert_eq!(before, [&[][..], &[0], &[0], &[1, 2], &[3]]);
        assert_eq!((edges.count(), edges.critical_tasks), (5, 4));
    }
}
