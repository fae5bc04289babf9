//! `ringlane kernels`: the kernels of this program and of its plugins, and what each takes on a GPU.

use ringlane::Platform;
use ringlane_chip_cuda::resources::{self, Architecture, Resources};
use ringlane_engine::api::kernel::{Kernel, registered_kernels};
use ringlane_insight::text_table::{Side, Table};
use ringlane_scenes::scenes;
use ringlane_task::Explain;
use serde::Serialize;

use crate::errors::{CliError, Exit, print};
use crate::options;
use crate::output;

const EXAMPLE: &str = "\
Example:
  $ ringlane kernels
  $ ringlane kernels -p cuda
  $ ringlane kernels -p cuda --json | jq '.kernels[] | select(.cuda.spill_load_bytes > 0) | .name'
With -p cuda, each CUDA body is compiled with NVRTC. That needs no GPU: without one, it is compiled for sm_90.";

/// Threads of a block, and registers of a processor.
const BLOCK_THREADS: u32 = 256;
const PROCESSOR_REGISTERS: u32 = 65_536;
/// The assembler gives registers to a thread by this number.
const REGISTERS_STEP: u32 = 8;

/// List the kernels, and what each takes on a GPU
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct KernelsArgs {
    /// Compile the CUDA bodies, and show the registers and the memory that each takes: cuda
    #[arg(short, long, value_name = "NAME", value_parser = options::platform(), hide_possible_values = true)]
    platform: Option<Platform>,
    /// The architecture to compile for [default: that of the GPU; sm_90 without one]
    #[arg(long, value_name = "SM", value_parser = architecture, requires = "platform")]
    arch: Option<Architecture>,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listing {
    /// Only with a platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Target>,
    /// The kernel that needs the most registers, which determines those of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_registers: Option<&'static str>,
    kernels: Vec<Row>,
}

/// What bodies are compiled for.
#[derive(Serialize)]
struct Target {
    platform: &'static str,
    architecture: String,
    /// `option`, `device` or `default`.
    chosen_by: &'static str,
    nvrtc: String,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    core: &'static str,
    args: usize,
    scenes: Vec<&'static str>,
    /// None without a CUDA body.
    cuda: Option<Body>,
}

#[derive(Serialize)]
struct Body {
    file: &'static str,
    line: u32,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    taken: Option<Taken>,
    /// Why it does not compile.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What a body takes; fields may be added, never renamed.
#[derive(Clone, Copy, Serialize)]
struct Taken {
    registers: u32,
    stack_bytes: u32,
    spill_store_bytes: u32,
    spill_load_bytes: u32,
    shared_bytes: u32,
    uses_scratch: bool,
}

impl From<Resources> for Taken {
    fn from(found: Resources) -> Self {
        Taken {
            registers: found.registers,
            stack_bytes: found.stack_bytes,
            spill_store_bytes: found.spill_store_bytes,
            spill_load_bytes: found.spill_load_bytes,
            shared_bytes: found.shared_bytes,
            uses_scratch: found.uses_scratch,
        }
    }
}

impl KernelsArgs {
    /// Prints the list.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let kernels = known();
        let mut listing = Listing {
            target: None,
            most_registers: None,
            kernels: kernels.iter().map(|k| Row::of(k)).collect(),
        };
        let mut exit = Exit::Ok;
        if let Some(platform) = self.platform {
            exit = self.compile(platform, &kernels, &mut listing)?;
        }
        output::results(&if self.json { output::json(&listing) } else { listing.text() })?;
        Ok(exit)
    }

    /// Adds what the kernels take on the platform. Bodies that do not compile are printed.
    fn compile(
        &self,
        platform: Platform,
        kernels: &[&'static Kernel],
        listing: &mut Listing,
    ) -> Result<Exit, CliError> {
        if platform.as_str() != "cuda" {
            return Err(CliError::bad_value("--platform", platform.as_str(), "cuda", "--platform cuda"));
        }
        let found = self.arch.map(|asked| (asked, "option"));
        let found = found.or_else(|| Architecture::of_device().map(|device| (device, "device")));
        let (architecture, chosen_by) = found.unwrap_or((Architecture::DEFAULT, "default"));
        let nvrtc = resources::compiler_version().map_err(CliError::Device)?;
        let taken = resources::of_kernels(kernels, architecture).map_err(CliError::Device)?;
        let mut exit = Exit::Ok;
        for (body, taken) in listing.kernels.iter_mut().map(|row| &mut row.cuda).zip(taken) {
            match (body, taken) {
                (Some(body), Some(Ok(taken))) => body.taken = Some(taken.into()),
                (Some(body), Some(Err(error))) => {
                    print(&error);
                    body.error = Some(error.detail());
                    exit = Exit::Failed;
                }
                _ => {}
            }
        }
        listing.kernels.sort_by_key(|row| core::cmp::Reverse(row.taken().map(|taken| taken.registers)));
        let first = listing.kernels.first().filter(|row| row.taken().is_some());
        listing.most_registers = first.map(|row| row.name);
        let (platform, architecture) = (platform.as_str(), architecture.to_string());
        listing.target = Some(Target { platform, architecture, chosen_by, nvrtc });
        Ok(exit)
    }
}

/// The kernels of this program, by name, and then those of plugins.
fn known() -> Vec<&'static Kernel> {
    let mut all = registered_kernels();
    for kernel in scenes().into_iter().flat_map(|scene| scene.kernels.iter().copied()) {
        if !all.iter().any(|known| core::ptr::eq(*known, kernel)) {
            all.push(kernel);
        }
    }
    all
}

impl Row {
    fn of(kernel: &'static Kernel) -> Self {
        let uses = |scene: &&ringlane_scenes::Scene| scene.kernels.iter().any(|k| core::ptr::eq(*k, kernel));
        Row {
            name: kernel.name(),
            core: kernel.core().as_str(),
            args: kernel.arity(),
            scenes: scenes().into_iter().filter(|scene| uses(scene)).map(|scene| scene.name).collect(),
            cuda: kernel.cuda().map(|b| Body { file: b.file, line: b.line, taken: None, error: None }),
        }
    }

    fn taken(&self) -> Option<Taken> {
        self.cuda.as_ref()?.taken
    }
}

impl Listing {
    fn text(&self) -> String {
        match &self.target {
            None => self.known_text(),
            Some(target) => target.text() + "\n" + &self.taken_text(),
        }
    }

    fn known_text(&self) -> String {
        let (left, right) = (Side::Left, Side::Right);
        let columns =
            [("kernel", left), ("core", left), ("arguments", right), ("CUDA body", left), ("scenes", left)];
        let mut table = Table::new(columns.to_vec());
        for row in &self.kernels {
            let has_body = if row.cuda.is_some() { "yes" } else { "no" }.to_string();
            let args = row.args.to_string();
            table.push(vec![row.name.into(), row.core.into(), args, has_body, row.scenes.join(", ")]);
        }
        table.render()
    }

    fn taken_text(&self) -> String {
        let mut columns = vec![("kernel", Side::Left)];
        let numbers = ["registers", "stack", "spill stores", "spill loads", "shared"];
        columns.extend(numbers.map(|name| (name, Side::Right)));
        columns.push(("scratch", Side::Left));
        let mut table = Table::new(columns);
        for row in &self.kernels {
            let Some(taken) = row.taken() else { continue };
            let bytes =
                [taken.stack_bytes, taken.spill_store_bytes, taken.spill_load_bytes, taken.shared_bytes];
            let mut cells = vec![row.name.to_string(), taken.registers.to_string()];
            cells.extend(bytes.map(|bytes| bytes.to_string()));
            cells.push(if taken.uses_scratch { "yes" } else { "no" }.to_string());
            table.push(cells);
        }
        let mut text = table.render();
        let names = |of: fn(&Row) -> bool| {
            let rows = self.kernels.iter().filter(|row| of(row));
            rows.map(|row| row.name).collect::<Vec<_>>().join(", ")
        };
        for (what, names) in [
            ("Without a CUDA body", names(|row| row.cuda.is_none())),
            ("Not compiled", names(|row| row.cuda.as_ref().is_some_and(|body| body.error.is_some()))),
        ] {
            if !names.is_empty() {
                text += &format!("\n{what}: {names}\n");
            }
        }
        text + &self.occupancy_text()
    }

    /// What limits how many blocks run on a processor.
    fn occupancy_text(&self) -> String {
        let Some(taken) = self.kernels.first().and_then(Row::taken) else { return String::new() };
        let name = self.most_registers.unwrap_or_default();
        let of_block = taken.registers.next_multiple_of(REGISTERS_STEP).max(REGISTERS_STEP) * BLOCK_THREADS;
        format!(
            "\nAll kernels of a run have the registers of the one that needs the most, and a few for the lists; of these, {name}: {} of 255\n\
             One block of {BLOCK_THREADS} threads runs on a processor: each has 160 KiB of scratch memory. \
             The registers would allow {}\n",
            taken.registers,
            PROCESSOR_REGISTERS / of_block
        )
    }
}

impl Target {
    fn text(&self) -> String {
        let why = match self.chosen_by {
            "option" => "as --arch says",
            "device" => "the GPU of this machine",
            _ => "because this machine has no GPU",
        };
        format!(
            "Compiled with NVRTC {} for {}, {why}; bytes are those of a thread, shared memory that of a block\n",
            self.nvrtc, self.architecture
        )
    }
}

/// `--arch SM`.
fn architecture(text: &str) -> Result<Architecture, CliError> {
    let allowed = "sm_80 or newer, such as sm_90";
    text.parse().map_err(|()| CliError::bad_value("--arch", text, allowed, "--arch sm_90"))
}
