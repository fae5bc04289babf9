//! A captured graph as one launch for each task: what lists are compared with ([`Policy`](crate::policy::Policy)).
//!
//! A node is a launch: the blocks of a task that run the same kernel. A task of several kernels is several nodes.

use core::any::Any;

use ringlane_engine::placed::EncodedBlock;

use crate::batch::{Initialized, NOTHING};
use crate::device::{Address, Answer, Device, bytes_of};
use crate::entry::{Times, kind};
use crate::pool::{Memory, Pool};

/// The arguments of a launch: `rl_node_task` of `device/node.h`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Node {
    pub(crate) words: u64,
    pub(crate) spaces: u64,
    pub(crate) contents: u64,
    pub(crate) boards: u64,
    pub(crate) times: u64,
    pub(crate) alarm: u64,
    pub(crate) kernel: u32,
    pub(crate) kind: u32,
    pub(crate) count: u32,
    pub(crate) blocks: u32,
    pub(crate) task: u32,
    pub(crate) index: u32,
    /// Not 0 if the body uses scratch memory.
    pub(crate) scratch: u32,
    pub(crate) board_count: u32,
}

/// A graph of launches that the device keeps.
pub(crate) type DeviceGraph = Box<dyn Any + Send + Sync>;

/// The nodes of a graph. Tasks are added in submission order; their numbers count from 0.
#[derive(Default)]
pub(crate) struct Nodes {
    /// Addresses of words and contents count words of `words`, plus one, until they are placed.
    nodes: Vec<Node>,
    /// Each task's nodes: the first, and the number.
    tasks: Vec<(u32, u32)>,
    /// The nodes before each node: where they begin in `before_nodes`.
    before: Vec<u32>,
    before_nodes: Vec<u32>,
    words: Vec<u64>,
    blocks: u32,
    placed: Option<Placed>,
}

/// Nodes whose addresses are those of the device.
struct Placed {
    memory: Memory,
    times: Memory,
    at: Places,
    nodes: Vec<Node>,
    graph: Option<DeviceGraph>,
}

/// What the launches of a graph share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) spaces: Address,
    pub(crate) boards: Address,
    pub(crate) alarm: Address,
    /// Whether somebody wants times.
    pub(crate) timed: bool,
    /// The number of kernels in the program: another program has more.
    pub(crate) kernels: usize,
}

impl Nodes {
    /// Adds a task with these blocks, each with the number of its kernel in the program; without blocks, it only orders others.
    pub(crate) fn push(
        &mut self,
        predecessors: &[u32],
        makes_outputs: bool,
        blocks: &[(u16, EncodedBlock<'_>)],
    ) {
        let task = self.tasks.len() as u32;
        let first = self.nodes.len() as u32;
        let made = if makes_outputs { u32::from(kind::MAKES_OUTPUTS) } else { 0 };
        let mut index = 0;
        while let Some((kernel, block)) = blocks.get(index) {
            let count = block.blocks.max(1);
            let scratch =
                u32::from(block.kernel.cuda().is_some_and(|body| body.source.contains("rl_scratch(")));
            let kernel = u32::from(*kernel);
            let node = Node { kernel, kind: made, blocks: count, task, scratch, ..Node::default() };
            self.add(predecessors, Node { index: index as u32, ..node }, block.words);
            index += count as usize;
        }
        if blocks.is_empty() {
            let node = Node { kernel: u32::from(NOTHING), blocks: 1, task, ..Node::default() };
            self.add(predecessors, node, &[]);
        }
        self.tasks.push((first, self.nodes.len() as u32 - first));
    }

    /// Adds a task that initializes memory.
    pub(crate) fn push_init(&mut self, predecessors: &[u32], init: &Initialized<'_>) {
        let (task, first) = (self.tasks.len() as u32, self.nodes.len() as u32);
        let contents = init.contents.map_or(0, |contents| {
            self.words.resize(self.words.len().next_multiple_of(2), 0);
            let at = self.words.len() as u64 + 1;
            self.words.extend(crate::batch::words_of(contents));
            at
        });
        let (kernel, kind) = (u32::from(NOTHING), u32::from(kind::INITIALIZES));
        let node = Node { kernel, kind, blocks: 1, task, contents, ..Node::default() };
        self.add(predecessors, node, &[u64::from(init.space), init.start, init.bytes]);
        self.tasks.push((first, 1));
    }

    fn add(&mut self, predecessors: &[u32], mut node: Node, words: &[u64]) {
        node.words = self.words.len() as u64 + 1;
        node.count = words.len() as u32;
        node.times = u64::from(self.blocks);
        self.blocks += node.blocks;
        self.words.extend_from_slice(words);
        self.before.push(self.before_nodes.len() as u32);
        for &task in predecessors {
            let (first, count) = self.tasks[task as usize];
            self.before_nodes.extend(first..first + count);
        }
        self.nodes.push(node);
    }

    /// The nodes that a node follows.
    pub(crate) fn before(&self, node: usize) -> &[u32] {
        let end = self.before.get(node + 1).map_or(self.before_nodes.len(), |&end| end as usize);
        &self.before_nodes[self.before[node] as usize..end]
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes with their addresses; none before they are placed.
    pub(crate) fn placed(&self) -> &[Node] {
        self.placed.as_ref().map_or(&[], |placed| &placed.nodes)
    }

    /// Copies the arguments to the device, and sets the addresses, unless they are the same as the last time.
    pub(crate) fn place(&mut self, device: &dyn Device, pool: &Pool, at: Places) -> Answer<()> {
        if self.placed.as_ref().is_some_and(|placed| placed.at == at) {
            return Ok(());
        }
        self.placed = None;
        let memory = pool.reserve(size_of_val(&self.words[..]) as u64)?;
        let times = pool.reserve(u64::from(self.blocks) * size_of::<Times>() as u64)?;
        // SAFETY: the memory is new, and as large.
        unsafe { device.copy_in(bytes_of(&self.words), memory.at) }?;
        let place = |word: u64| if word == 0 { 0 } else { memory.at + (word - 1) * size_of::<u64>() as u64 };
        let nodes = self.nodes.iter().map(|node| Node {
            words: place(node.words),
            contents: place(node.contents),
            spaces: at.spaces,
            boards: at.boards,
            board_count: device.blocks(),
            alarm: at.alarm,
            times: if at.timed { times.at + node.times * size_of::<Times>() as u64 } else { 0 },
            ..*node
        });
        let nodes = nodes.collect();
        self.placed = Some(Placed { memory, times, at, nodes, graph: None });
        Ok(())
    }

    /// The device's graph of the placed nodes, made if there is none.
    pub(crate) fn graph(&mut self, device: &dyn Device) -> Answer<&DeviceGraph> {
        let known = self.placed.as_ref().is_some_and(|placed| placed.graph.is_some());
        if !known {
            // SAFETY: the addresses are the device's, and stay as long as the nodes.
            let graph = unsafe { device.make_graph(self) }?;
            let placed = self.placed.as_mut().expect("the caller placed them");
            debug_assert!(placed.memory.at != 0);
            placed.graph = Some(graph);
        }
        let placed = self.placed.as_ref().expect("the caller placed them");
        Ok(placed.graph.as_ref().expect("just made"))
    }

    /// Where the times of all blocks are, and how many there are.
    pub(crate) fn times(&self) -> (Address, usize) {
        (self.placed.as_ref().map_or(0, |placed| placed.times.at), self.blocks as usize)
    }
}
