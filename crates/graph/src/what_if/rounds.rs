//! Tasks whose last round of blocks leaves cores idle: no kernel, core or policy that is faster helps them, another number of
//! blocks does.

use ringlane_chip_sim::cost::BlockCosts;
use ringlane_engine::api::kernel::CoreType;
use ringlane_insight::units::percent_text;
use ringlane_task::ChipSpec;

use crate::recorded::{Program, ProgramTask};

/// The smallest share of a run that is worth a note.
const SHARE_MIN: f64 = 0.02;

/// What to know of the kernel that loses most of a run this way.
pub(super) fn note(
    program: &Program,
    costs: &BlockCosts,
    chip: &ChipSpec,
    makespan_us: f64,
) -> Option<String> {
    let mut worst = vec![Loss::default(); program.kernels.len()];
    for (place, task) in program.tasks.iter().enumerate() {
        let Some((kernel, cores)) = only_kernel(program, task, chip) else { continue };
        let blocks = costs.of_task(place);
        let (count, partial) = (task.blocks, task.blocks % cores.max(1));
        if count <= cores || partial == 0 || blocks.is_empty() {
            continue;
        }
        let work_us: f64 = blocks.iter().map(|block| block.work.picoseconds as f64 / 1e6).sum();
        let unused = 1.0 - f64::from(partial) / f64::from(cores);
        let loss = &mut worst[usize::from(kernel)];
        loss.us += unused * work_us / f64::from(count);
        (loss.blocks, loss.cores) = (loss.blocks.max(count), cores);
    }
    let (kernel, loss) = worst.iter().enumerate().max_by(|a, b| a.1.us.total_cmp(&b.1.us))?;
    let share = loss.us / makespan_us;
    (share >= SHARE_MIN).then(|| loss.text(&program.kernels[kernel].name, share))
}

/// The kernel of a task with only one, and the number of cores that it can use.
fn only_kernel(program: &Program, task: &ProgramTask, chip: &ChipSpec) -> Option<(u16, u32)> {
    let [Some(kernel), None, None] = task.lanes else { return None };
    let cores = match program.kernels[usize::from(kernel)].core {
        CoreType::Aic => chip.aic_cores(),
        CoreType::Aiv => chip.aiv_cores(),
        CoreType::Any => chip.cores(),
    };
    Some((kernel, cores))
}

/// What the last rounds of a kernel's tasks cost.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    us: f64,
    /// Of its largest task.
    blocks: u32,
    cores: u32,
}

impl Loss {
    fn text(&self, kernel: &str, share: f64) -> String {
        let Loss { blocks, cores, .. } = *self;
        let (rounds, last) = (blocks.div_ceil(cores), blocks % cores);
        let more = if blocks.div_ceil(cores + 1) == rounds { ", one more core changes nothing" } else { "" };
        format!(
            "{kernel} has {blocks} blocks for {cores} cores: {rounds} rounds, the last with {last} blocks{more}; a number of \
             blocks that is a multiple of {cores} would make the run up to {} shorter",
            percent_text(share)
        )
    }
}

#[cfg(test)]
mod tests {
    use ringlane_chip_sim::cost::ReplayedBlock;
    use ringlane_engine::observe::BlockWork;

    use super::*;
    use crate::recorded::{ProgramKernel, TaskKind};

    /// A run of one task, whose blocks take 1 µs each, on 24 cores of its kind.
    fn note_of(blocks: u32, makespan_us: f64) -> Option<String> {
        let chip = ringlane_chip_sim::spec::builtin("a2a3sim").unwrap();
        assert_eq!(chip.aic_cores(), 24);
        let task = ProgramTask {
            kind: TaskKind::Kernels,
            lanes: [Some(0), None, None],
            blocks,
            args: 0..0,
            after: 0..0,
            before: 0..0,
            label: None,
            duration_ps: None,
        };
        let kernels = vec![ProgramKernel { name: "LOGITS".to_string(), core: CoreType::Aic }];
        let program = Program { kernels, tasks: vec![task], ..Program::default() };
        let mut costs = BlockCosts::default();
        let block = BlockWork { picoseconds: 1_000_000, flops: 0, bytes: 0 };
        costs.push_task((0..blocks).map(|_| ReplayedBlock::from(block)));
        note(&program, &costs, &chip, makespan_us)
    }

    #[test]
    fn a_last_round_with_idle_cores_is_named_with_what_would_fill_it() {
        assert_eq!(
            note_of(132, 6.0).unwrap(),
            "LOGITS has 132 blocks for 24 cores: 6 rounds, the last with 12 blocks, one more core changes nothing; a number of \
             blocks that is a multiple of 24 would make the run up to 8.3 % shorter"
        );
    }

    #[test]
    fn full_rounds_tasks_of_one_round_and_small_losses_have_no_note() {
        assert_eq!(note_of(144, 6.0), None);
        assert_eq!(note_of(20, 1.0), None);
        assert_eq!(note_of(132, 60.0), None);
    }
}
