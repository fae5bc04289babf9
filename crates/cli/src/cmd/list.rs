//! `ringlane list`: the scenes with their cases, parameters and kernels, and the platforms of this machine.

use ringlane_scenes::{Scene, scenes};
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output;
use ringlane::Platform;

const EXAMPLE: &str = "\
Example:
  $ ringlane list
  $ ringlane list --json | jq -r '.scenes[].name'";

/// List the scenes with their cases, parameters and kernels, and the platforms available on this machine
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct ListArgs {
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listing {
    scenes: Vec<SceneRow>,
    platforms: Vec<PlatformRow>,
}

#[derive(Serialize)]
struct SceneRow {
    name: &'static str,
    about: &'static str,
    cases: Vec<CaseRow>,
    params: Vec<ParamRow>,
    kernels: Vec<KernelRow>,
}

#[derive(Serialize)]
struct CaseRow {
    name: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct ParamRow {
    name: &'static str,
    default: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct KernelRow {
    name: &'static str,
    args: usize,
}

#[derive(Serialize)]
struct PlatformRow {
    name: &'static str,
    about: &'static str,
    available: bool,
    /// Why it is not available.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ListArgs {
    /// Prints the list.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let listing = Listing::of_this_program();
        let text = if self.json { listing.json() } else { listing.text() };
        output::results(&text)?;
        Ok(Exit::Ok)
    }
}

impl Listing {
    fn of_this_program() -> Self {
        let platform = |platform: Platform| {
            let capabilities = platform.capabilities();
            let reason = (capabilities.availability)().err();
            PlatformRow {
                name: capabilities.name,
                about: capabilities.about,
                available: reason.is_none(),
                reason,
            }
        };
        Listing {
            scenes: scenes().into_iter().map(SceneRow::of).collect(),
            platforms: Platform::all().into_iter().map(platform).collect(),
        }
    }

    fn json(&self) -> String {
        output::json(self)
    }

    fn text(&self) -> String {
        let mut text = String::from("Scenes\n");
        for scene in &self.scenes {
            text += &scene.text();
        }
        if self.scenes.is_empty() {
            text += "  none: a crate registers its own with ringlane::scene!\n";
        }
        text += "Platforms\n";
        for PlatformRow { name, reason, .. } in &self.platforms {
            let state = match reason {
                None => "available".to_string(),
                Some(reason) => format!("not available on this machine: {reason}"),
            };
            text += &format!("  {name:<10} {state}\n");
        }
        text
    }
}

impl SceneRow {
    fn of(scene: &'static Scene) -> Self {
        let case = |c: &ringlane_scenes::Case| CaseRow { name: c.name, about: c.about };
        let param =
            |p: &ringlane_scenes::Param| ParamRow { name: p.name, default: p.default, about: p.about };
        SceneRow {
            name: scene.name,
            about: scene.about,
            cases: scene.cases.iter().map(case).collect(),
            params: scene.listed_params().map(param).collect(),
            kernels: scene.kernels.iter().map(|k| KernelRow { name: k.name(), args: k.arity() }).collect(),
        }
    }

    fn text(&self) -> String {
        let mut rows: Vec<(&str, String, &str)> = Vec::new();
        rows.extend(self.cases.iter().map(|case| ("--case", case.name.to_string(), case.about)));
        rows.extend(self.params.iter().map(|p| ("--param", format!("{}={}", p.name, p.default), p.about)));
        let wide = rows.iter().map(|(_, name, _)| name.chars().count()).max().unwrap_or(0);
        let mut text = format!("  {}: {}\n", self.name, self.about);
        for (option, name, about) in rows {
            text += &format!("    {option:<7} {name:<wide$}  {about}\n");
        }
        let kernels: Vec<_> = self.kernels.iter().map(|kernel| kernel.name).collect();
        if !kernels.is_empty() {
            text += &format!("    kernels {}\n", kernels.join(", "));
        }
        text
    }
}
