//! The arrays of the file: which row each holds, under which names, and from which level on.

use super::read::Reader;
use super::{BlockRow, CopyRow, EdgeRow, LaunchRow, PerKind, PhaseRow, SubmitRow, SwimlaneLevel, TaskRow};
use crate::rows::document::Value;
use crate::rows::row::{ArrayRow, opening};
use crate::rows::scan::ReadError;

/// Arrays after the head, in the order of the file.
pub(super) const SECTIONS: usize = 5;

/// What a chip can say of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChipKind {
    /// When they ran.
    Real,
    /// Also what its cost model says of them.
    Modelled,
}

/// A row of one of the arrays.
pub(crate) trait SectionRow: ArrayRow {
    /// Its place among the arrays.
    const PLACE: usize;
    /// The name of the list of its columns.
    const COLUMNS_KEY: &'static str;
    /// The name of its array.
    const ROWS_KEY: &'static str;
    /// The first level that has it.
    const LEVEL: SwimlaneLevel;

    /// The number of its columns at a level.
    fn columns(level: SwimlaneLevel) -> usize {
        if level < Self::FULL_LEVEL { Self::REQUIRED } else { Self::COLUMNS.len() - Self::OF_MODELS }
    }

    /// The number of its columns at a level, as a kind of chip has them.
    fn columns_of(level: SwimlaneLevel, chip: ChipKind) -> usize {
        let full = chip == ChipKind::Modelled && level >= Self::FULL_LEVEL;
        if full { Self::COLUMNS.len() } else { Self::columns(level) }
    }

    /// The number of its last columns that only modelled chips have.
    const OF_MODELS: usize = 0;

    /// The level that has all of its columns.
    const FULL_LEVEL: SwimlaneLevel = Self::LEVEL;

    /// The row, whatever it is.
    fn wrap(self) -> SwimlaneRow;
}

/// Declares the arrays and what any of their rows is.
macro_rules! sections {
    ($($(#[$doc:meta])* $variant:ident($row:ident) = $place:literal, $columns:literal, $rows:literal, $level:ident $(, all from $full:ident)? $(, $models:literal of models)?;)*) => {
        /// One row of any kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SwimlaneRow {
            $($(#[$doc])* $variant($row),)*
        }

        $(impl SectionRow for $row {
            const PLACE: usize = $place;
            const COLUMNS_KEY: &'static str = $columns;
            const ROWS_KEY: &'static str = $rows;
            const LEVEL: SwimlaneLevel = SwimlaneLevel::$level;
            $(const FULL_LEVEL: SwimlaneLevel = SwimlaneLevel::$full;)?
            $(const OF_MODELS: usize = $models;)?

            fn wrap(self) -> SwimlaneRow {
                SwimlaneRow::$variant(self)
            }
        })*

        /// The names of the arrays.
        pub(super) const ROWS_KEYS: [&str; SECTIONS] = [$($rows),*];

        impl<F: FnMut(SwimlaneRow)> Reader<F> {
            /// Takes the columns or the rows of an array, or any other field.
            pub(super) fn take(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
                match key {
                    $($columns => self.find::<$row>(value),)*
                    $($rows => self.rows::<$row>(value),)*
                    _ => self.head_field(key, value),
                }
            }
        }

        /// The number of arrays that a level has: the first of them.
        pub(super) fn sections_of(level: SwimlaneLevel) -> usize {
            [$(<$row>::LEVEL),*].iter().filter(|&&needed| needed <= level).count()
        }

        /// What comes before the rows of each array that a level has.
        pub(super) fn openings(level: SwimlaneLevel, chip: ChipKind) -> Vec<String> {
            let mut openings = Vec::new();
            $(if <$row>::LEVEL <= level {
                openings.push(opening::<$row>($columns, $rows, <$row>::columns_of(level, chip)));
            })*
            openings
        }
    };
}

sections! {
    /// A block.
    Block(BlockRow) = 0, "block_columns", "blocks", Blocks, all from Tasks, 3 of models;
    /// A task.
    Task(TaskRow) = 1, "task_columns", "tasks", Tasks;
    /// An edge.
    Edge(EdgeRow) = 2, "edge_columns", "edges", Tasks;
    /// A phase of a scheduler thread.
    Phase(PhaseRow) = 3, "phase_columns", "scheduler_phases", Phases;
    /// A submit.
    Submit(SubmitRow) = 4, "submit_columns", "orchestrator_phases", Phases;
}

/// A row of an array in the head of the file, which has no section.
pub(super) trait HeadRow: ArrayRow {
    /// The names of the list of its columns, and of its array.
    const KEYS: [&str; 2];

    /// What comes before the rows.
    fn opening() -> String {
        let [columns, rows] = Self::KEYS;
        opening::<Self>(columns, rows, Self::COLUMNS.len()).trim_end_matches("[\n").to_string()
    }
}

impl HeadRow for CopyRow {
    const KEYS: [&str; 2] = ["copy_columns", "copies"];
}

impl HeadRow for LaunchRow {
    const KEYS: [&str; 2] = ["launch_columns", "launches"];
}

impl<T> PerKind<T> {
    /// The same for other values; each is made of the name of its kind and of what was there.
    pub(super) fn try_map<U, E>(
        self,
        mut each: impl FnMut(&'static str, T) -> Result<U, E>,
    ) -> Result<PerKind<U>, E> {
        Ok(PerKind {
            blocks: each("blocks", self.blocks)?,
            tasks: each("tasks", self.tasks)?,
            edges: each("edges", self.edges)?,
            phases: each("phases", self.phases)?,
            submits: each("submits", self.submits)?,
            copies: each("copies", self.copies)?,
            launches: each("launches", self.launches)?,
        })
    }
}
