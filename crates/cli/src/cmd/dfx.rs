//! The options of `run` that choose what is recorded.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ringlane_scenes::Scene;
use ringlane_task::{DfxFlags, Overflow};

use crate::diagnostics::{DfxRounds, RecordedBy};
use crate::errors::CliError;
use crate::pmu;
use crate::selection;
use ringlane::{REPORTED, RunRequest};

/// What `--dfx` turns on.
const EVERYTHING: DfxFlags = REPORTED.with(DfxFlags::DUMP);

/// Other names of `--chip-swimlane`.
const SWIMLANE_ALIASES: [&str; 3] = ["enable-chip-swimlane", "enable-l2-swimlane", "enable-profiling"];

/// Another name of `--pmu`.
const PMU_ALIAS: &str = "enable-pmu";

/// Whether an option, by its name without dashes, takes a number that may be left out.
pub fn takes_optional_number(name: &str) -> bool {
    ["chip-swimlane", "pmu", PMU_ALIAS].contains(&name) || SWIMLANE_ALIASES.contains(&name)
}

/// Each diagnostic writes its own file next to `run.json`.
#[derive(clap::Args)]
#[command(next_help_heading = "Diagnostics (each writes a file next to run.json)")]
pub struct DfxArgs {
    /// Record the timeline: blocks (1), also tasks and edges (2), also thread phases and submits (3); 0 is off [without a value: 3]
    #[arg(long, value_name = "LEVEL")]
    #[arg(aliases = SWIMLANE_ALIASES)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "3", value_parser = swimlane_level)]
    chip_swimlane: Option<u8>,
    /// Capture arguments of tasks: all, those of some kernels (QK,PV:2), or only marked ones (@marked) [without a value: all]
    #[arg(long, value_name = "KERNEL[:ARG],…", aliases = ["enable-dump-tensor", "dump-args"])]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = selection::ALL)]
    dump_tensor: Option<String>,
    /// Read hardware counters around each block; GROUP is a number or a name [without a value: the default group]
    #[arg(long, value_name = "GROUP", alias = PMU_ALIAS)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = pmu::DEFAULT)]
    pmu: Option<String>,
    /// Record all tasks and their dependencies
    #[arg(long, alias = "enable-dep-gen")]
    dep_gen: bool,
    /// Record how much of the rings each scope uses
    #[arg(long, alias = "enable-scope-stats")]
    scope_stats: bool,
    /// Record when each worker received, ran and answered its calls; needs --workers
    #[arg(long)]
    dist_swimlane: bool,
    /// Turn on all diagnostics
    #[arg(long)]
    dfx: bool,
    /// Write report.html and print its path; without other diagnostics, turn on all but --dump-tensor
    #[arg(long)]
    report: bool,
    /// What to do when a recording buffer is full: wait for space (block), or discard and count the record (drop)
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = overflow())]
    overflow: Overflow,
    /// Which of several rounds to record; `all` writes each to round_<n>/ in the run directory
    #[arg(long, value_name = "WHICH", default_value = "last")]
    dfx_rounds: DfxRounds,
}

impl DfxArgs {
    /// The request with the diagnostics for a scene, on a chip or on a node.
    pub fn apply(
        &self,
        mut request: RunRequest,
        scene: &Scene,
        of: RecordedBy,
    ) -> Result<RunRequest, CliError> {
        if self.dist_swimlane && of == RecordedBy::Chip {
            return Err(CliError::OnlyWithWorkers { option: "--dist-swimlane" });
        }
        if let Some(text) = &self.pmu {
            request.config.pmu_group = pmu::group(text, request.platform)?;
        }
        if let Some(text) = &self.dump_tensor {
            request.dump = selection::parse(text, scene)?;
        }
        request.config = request.config.with_dfx_flags(self.flags(of)).with_overflow(self.overflow);
        Ok(request)
    }

    /// In which rounds.
    pub const fn rounds(&self) -> DfxRounds {
        self.dfx_rounds
    }

    /// A specific option takes precedence over `--dfx`: with both, the swimlane has the level of `--chip-swimlane`.
    fn flags(&self, of: RecordedBy) -> DfxFlags {
        let by_node = match of {
            RecordedBy::Chip => DfxFlags::NONE,
            RecordedBy::Node => DfxFlags::NODE_SWIMLANE,
        };
        let asked = [
            (self.dfx, EVERYTHING.with(by_node)),
            (self.dist_swimlane, DfxFlags::NODE_SWIMLANE),
            (self.dump_tensor.is_some(), DfxFlags::DUMP),
            (self.pmu.is_some(), DfxFlags::PMU),
            (self.dep_gen, DfxFlags::DEPS),
            (self.scope_stats, DfxFlags::SCOPES),
        ];
        let flags =
            asked.into_iter().filter(|(is_on, _)| *is_on).fold(DfxFlags::NONE, |all, (_, one)| all.with(one));
        // A level of 0 turns on nothing: a report still has the other instruments.
        let asks_for_nothing = flags.is_empty() && self.chip_swimlane.unwrap_or(0) == 0;
        let flags = if self.report && asks_for_nothing { REPORTED.with(by_node) } else { flags };
        match self.chip_swimlane {
            None => flags,
            Some(level) => flags.with_swimlane_level(level).expect("the level was checked when it was read"),
        }
    }

    /// Whether a page is written for each run.
    pub const fn report(&self) -> bool {
        self.report
    }
}

fn swimlane_level(text: &str) -> Result<u8, CliError> {
    let level = text.parse().ok().filter(|level| (0..=DfxFlags::MAX_SWIMLANE_LEVEL).contains(level));
    level.ok_or_else(|| CliError::bad_value("--chip-swimlane", text, "0, 1, 2, 3", "--chip-swimlane=3"))
}

fn overflow() -> impl TypedValueParser<Value = Overflow> {
    let names = PossibleValuesParser::new(Overflow::ALL.map(Overflow::as_str));
    names.map(|name| Overflow::from_name(&name).expect("one of the names"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        dfx: DfxArgs,
    }

    fn parsed(options: &[&str]) -> DfxArgs {
        Command::try_parse_from([&["run"], options].concat()).unwrap_or_else(|e| panic!("{e}")).dfx
    }

    fn request_by(options: &[&str], of: RecordedBy) -> Result<RunRequest, CliError> {
        parsed(options).apply(RunRequest::default(), Scene::find("vector").unwrap(), of)
    }

    fn request(options: &[&str]) -> RunRequest {
        request_by(options, RecordedBy::Chip).unwrap()
    }

    #[test]
    fn a_node_has_a_diagnostic_of_its_own_and_a_chip_does_not() {
        let flags =
            |options: &[&str], of| request_by(options, of).map(|request| request.config.dfx_flags.bits());
        assert_eq!(flags(&["--dfx"], RecordedBy::Node).unwrap(), 0xff);
        assert_eq!(flags(&["--report"], RecordedBy::Node).unwrap(), 0xf7);
        assert_eq!(flags(&["--dist-swimlane"], RecordedBy::Node).unwrap(), 0x80);
        assert!(flags(&["--dist-swimlane"], RecordedBy::Chip).is_err());
        assert_eq!(flags(&["--dump-tensor=VECTOR_MUL"], RecordedBy::Node).unwrap(), 1 << 3);
    }

    fn bits(options: &[&str]) -> u64 {
        request(options).config.dfx_flags.bits()
    }

    #[test]
    fn each_option_sets_its_bits_and_together_they_are_dfx() {
        let each = ["--chip-swimlane", "--dump-tensor", "--pmu", "--dep-gen", "--scope-stats"];
        assert_eq!(each.map(|option| bits(&[option])), [0b111, 1 << 3, 1 << 4, 1 << 5, 1 << 6]);
        assert_eq!((bits(&each), bits(&["--dfx"]), bits(&[])), (0x7f, 0x7f, 0));
    }

    #[test]
    fn a_report_without_diagnostics_has_all_but_the_data_of_tasks() {
        assert_eq!(bits(&["--report"]), 0x77);
        assert_eq!(bits(&["--report", "--dep-gen"]), 1 << 5);
        assert_eq!(bits(&["--report", "--chip-swimlane=1"]), 1);
    }

    #[test]
    fn a_swimlane_level_is_its_bits_and_outranks_dfx() {
        for (level, expected) in [("1", 0b001), ("2", 0b011), ("3", 0b111)] {
            let option = format!("--chip-swimlane={level}");
            assert_eq!(bits(&[&option]), expected);
            assert_eq!(bits(&["--dfx", &option]), 0x78 | expected);
        }
        assert_eq!(bits(&["--enable-l2-swimlane=2", "--enable-scope-stats"]), 0b011 | 1 << 6);
    }

    #[test]
    fn a_swimlane_of_level_0_is_off_whatever_else_is_on() {
        assert_eq!(bits(&["--chip-swimlane=0"]), 0);
        for options in [["--dfx", "--chip-swimlane=0"], ["--chip-swimlane=0", "--dfx"]] {
            assert_eq!(bits(&options), 0x78);
        }
        assert_eq!(bits(&["--report", "--chip-swimlane=0"]), 0x70);
        assert_eq!(bits(&["--report", "--chip-swimlane=0", "--dep-gen"]), 1 << 5);
    }

    #[test]
    fn other_names_of_the_diagnostics_mean_the_same() {
        for (alias, expected) in [
            ("--enable-profiling", 0b111),
            ("--enable-profiling=1", 0b001),
            ("--enable-l2-swimlane", 0b111),
            ("--enable-chip-swimlane", 0b111),
            ("--enable-chip-swimlane=2", 0b011),
            ("--enable-chip-swimlane=0", 0),
            ("--enable-dump-tensor", 1 << 3),
            ("--enable-dump-tensor=VECTOR_MUL", 1 << 3),
            ("--dump-args", 1 << 3),
            ("--enable-pmu", 1 << 4),
            ("--enable-pmu=2", 1 << 4),
            ("--enable-dep-gen", 1 << 5),
            ("--enable-scope-stats", 1 << 6),
        ] {
            assert_eq!(bits(&[alias]), expected, "{alias}");
        }
        assert_eq!(request(&["--enable-pmu=2"]).config.pmu_group, 2);
        assert_eq!(request(&["--dump-args=VECTOR_MUL:1"]).dump.to_string(), "VECTOR_MUL:1");
    }

    #[test]
    fn without_options_diagnostics_would_wait_observe_the_last_round_and_dump_everything() {
        assert_eq!(request(&[]).encode(), RunRequest::default().encode());
        assert_eq!(request(&["--overflow", "drop"]).config.overflow(), Ok(Overflow::Drop));
        assert_eq!(
            (parsed(&[]).rounds(), parsed(&["--dfx-rounds", "all"]).rounds()),
            (DfxRounds::Last, DfxRounds::All)
        );
        let dump = request(&["--dfx", "--dump-tensor=VECTOR_MUL:1"]).dump;
        assert_eq!(dump.to_string(), "VECTOR_MUL:1");
    }
}
