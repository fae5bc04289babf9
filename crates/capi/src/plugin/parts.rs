//! A scene of a plugin, divided among workers.

use core::ops::Range;

use ringlane::engine::api::buffers::BufferId;
use ringlane::engine::prelude::{Error, Orch, Result, Tensor};
use ringlane::scenes::{PartAccess, PartArgument, Parts, SceneError, SceneResult};

use super::abi::{RL_ALL_ROWS, rl_parts, rl_rows};
use super::scene::{LoadedProgram, answer};
use crate::abi::{RL_ACCESS_INOUT, RL_ACCESS_READ, RL_ACCESS_WRITE, RL_OK};
use crate::error::{Failure, last_failure};
use crate::kernel::bad;
use crate::orch;

impl LoadedProgram {
    /// The number of units, if the plugin says how the scene is divided.
    pub(super) fn count_units(&self) -> SceneResult<Option<u32>> {
        let Some(parts) = self.of.parts else { return Ok(None) };
        let function = parts.units.expect("checked when it was loaded");
        let mut units = 0;
        // SAFETY: the plugin's function with its data; settings and result live until it returns.
        let status = unsafe { function(self.of.scene.user, self.settings(), &raw mut units) };
        let refused = |failure: Failure| {
            let reason = failure.text();
            failure.into_settings().unwrap_or(SceneError::Refused { scene: self.of.name, reason })
        };
        match (status, units) {
            (RL_OK, 0) => Err(refused(bad("units", 0, "1 or more"))),
            (RL_OK, units) => Ok(Some(units)),
            (status, _) => Err(refused(last_failure(status))),
        }
    }

    fn own_parts(&self) -> &rl_parts {
        self.of.parts.as_ref().expect("only a scene that is divided has units")
    }

    fn rows(&self, units: &Range<u32>, buffer: usize) -> Result<PartArgument> {
        let function = self.own_parts().rows.expect("checked when it was loaded");
        let struct_size = size_of::<rl_rows>() as u32;
        let mut rows = rl_rows { struct_size, access: RL_ACCESS_READ, first: 0, count: RL_ALL_ROWS };
        let (user, Range { start, end }) = (self.of.scene.user, units.clone());
        // SAFETY: as above.
        answer(unsafe { function(user, self.settings(), start, end, buffer, &raw mut rows) })?;
        let wrong = |failure: Failure| failure.ends_run();
        let access = match rows.access {
            RL_ACCESS_READ => PartAccess::Read,
            RL_ACCESS_WRITE => PartAccess::Write,
            RL_ACCESS_INOUT => PartAccess::InOut,
            other => return Err(wrong(bad("access of rows", other, "one of a tensor that exists"))),
        };
        match (rows.count, access) {
            (RL_ALL_ROWS, PartAccess::Read) => Ok(PartArgument { rows: None, access }),
            (RL_ALL_ROWS, _) => Err(wrong(bad("access of RL_ALL_ROWS", rows.access, "RL_ACCESS_READ"))),
            (count, _) => {
                let last = rows
                    .first
                    .checked_add(count)
                    .ok_or_else(|| wrong(bad("count of rows", count, "what a buffer has")));
                Ok(PartArgument { rows: Some(rows.first..last?), access })
            }
        }
    }
}

impl Parts for LoadedProgram {
    fn units(&self) -> u32 {
        self.units.unwrap_or_default()
    }

    fn part_buffers(&self) -> Result<Vec<BufferId>> {
        let (given, needed) = (self.ids.len(), self.own_parts().buffer_count);
        let few = || Error::user(format!("{}: {given} buffers; its parts use {needed}", self.of.name));
        self.ids.get(..needed).map(<[BufferId]>::to_vec).ok_or_else(few)
    }

    fn arguments(&self, units: Range<u32>) -> Result<Vec<PartArgument>> {
        (0..self.own_parts().buffer_count).map(|buffer| self.rows(&units, buffer)).collect()
    }

    fn orchestrate_part<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        units: Range<u32>,
        tensors: &[Tensor<'s>],
    ) -> Result<()> {
        let mut state = self.state.borrow_mut();
        state.prepare(Vec::new());
        let function = self.own_parts().orchestrate.expect("checked when it was loaded");
        let (user, Range { start, end }) = (self.of.scene.user, units);
        let call = |handle| {
            // SAFETY: the plugin's function with its data; settings and kernels live until it returns.
            unsafe { function(user, self.settings(), self.kernels(), start, end, handle) }
        };
        // SAFETY: the state was prepared, and is borrowed here alone.
        unsafe { orch::run_part(&raw mut **state, o, tensors, call) }
    }
}
