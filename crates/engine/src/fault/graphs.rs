//! What errors about captured graphs say.

#![forbid(unsafe_code)]

use ringlane_task::Reader;

use super::Fault;

impl Fault {
    /// The numbers of an error about a captured graph.
    pub(super) fn detail_of_a_graph(&self) -> String {
        match self {
            Fault::ReadInCapture => {
                "nothing runs during a capture, so there is no value to wait for".to_string()
            }
            Fault::GraphTooLarge { resource, ring, capacity, tasks, site, .. } => format!(
                "{site}: after {tasks} tasks, all {capacity} of {resource} on ring {ring} are in use, and a graph keeps everything"
            ),
            Fault::GraphFanIn { wanted, limit, site } => {
                format!("{site}: the task follows {wanted} others, at most {limit}")
            }
            Fault::GraphMemory { needs, limit, lower_bound } => format!(
                "{needs} bytes are needed, the limit is {limit}; no plan takes less than {lower_bound}"
            ),
            Fault::BufferMismatch { buffer, captured, given } => {
                format!("buffer {buffer}: captured as {captured}, given as {given}")
            }
            Fault::ForeignGraph { captured, cores } => {
                format!("it was captured for {captured} cores, this runtime has {cores}")
            }
            Fault::UnknownParam { name, known } if known.is_empty() => {
                format!("{name:?}; the graph has no named scalars")
            }
            Fault::UnknownParam { name, known } => format!("{name}; the graph has {}", known.join(", ")),
            Fault::NoReplay { platform } => format!("the platform is {platform}"),
            _ => String::new(),
        }
    }

    /// What to do about an error about a captured graph.
    pub(super) fn hint_of_a_graph(&self) -> String {
        let text = match self {
            Fault::GraphTooLarge { resource, option, .. } => {
                return format!("rerun with {}, or capture a part of the program", resource.setting(option));
            }
            Fault::ReadInCapture => Reader::choose(
                "a captured graph has no values yet: use `Runtime::run`, which streams, or leave the read out",
                "a captured graph has no values yet: rerun with --runtime tensormap_and_ringbuffer",
            ),
            Fault::GraphFanIn { .. } => {
                "let intermediate tasks or barriers collect the predecessors in groups"
            }
            Fault::GraphMemory { .. } => Reader::choose(
                "raise the limit to the bytes needed, or leave it out",
                "rerun with a larger --graph-memory, or without it",
            ),
            Fault::BufferMismatch { .. } => {
                "replay with buffers of the captured types, shapes and permissions; their contents may differ"
            }
            Fault::ForeignGraph { .. } => "replay a graph on the runtime that captured it",
            Fault::UnknownParam { .. } => {
                "submit the scalar as `param(\"name\", value)`, and set it with the same type"
            }
            Fault::NoReplay { .. } => Reader::choose(
                "use `Runtime::run`, which streams",
                "rerun with --runtime tensormap_and_ringbuffer",
            ),
            _ => "",
        };
        text.to_string()
    }
}
