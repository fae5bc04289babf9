//! Which tasks a read waits for.

use ringlane_task::Access;

use super::program::{Program, ProgramArg};

/// Which tasks write each tensor, in submission order.
pub(crate) struct Writers(Vec<Vec<u32>>);

impl Writers {
    /// Those of all tensors of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let mut writers = vec![Vec::new(); program.tensors];
        for (place, task) in program.tasks.iter().enumerate() {
            for arg in &program.args[task.args.clone()] {
                if let ProgramArg::Tensor { tensor, access, .. } = arg
                    && (access.writes() || *access == Access::Output)
                {
                    writers[*tensor as usize].push(place as u32);
                }
            }
        }
        Writers(writers)
    }

    /// Those of a tensor before a place in that order.
    pub(crate) fn before(&self, tensor: u32, place: usize) -> &[u32] {
        let all = &self.0[tensor as usize];
        &all[..all.partition_point(|&task| (task as usize) < place)]
    }
}
