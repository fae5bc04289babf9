//! The parser's complaints about a command line, in the same three lines as every other error.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::errors::{CliError, Exit, print};
use crate::output;
use crate::select;
use crate::suggest;

/// Prints what the parser has to say: help and version are results, everything else is an error.
pub fn show(error: &clap::Error) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            match output::results(&error.render().to_string()) {
                Ok(()) => Exit::Ok,
                Err(error) => fail(&error),
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::say(error.render().to_string().trim_end());
            Exit::Usage
        }
        // A parser of ours has said it already.
        _ => match error.source().and_then(|source| source.downcast_ref::<CliError>()) {
            Some(ours) => fail(ours),
            None => fail(&translate(error)),
        },
    }
}

fn fail(error: &CliError) -> Exit {
    print(error);
    error.exit()
}

fn translate(error: &clap::Error) -> CliError {
    let usage = one_line(&text(error, ContextKind::Usage).unwrap_or_default());
    let given = |kind| text(error, kind).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidValue => {
            let option = option_name(&given(ContextKind::InvalidArg));
            let value = given(ContextKind::InvalidValue);
            let known = list(error, ContextKind::ValidValue);
            if value.is_empty() {
                return CliError::MissingArgument { what: format!("the value of {option}"), usage };
            }
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let meant = suggest::nearest(&value, &names);
            let example = meant.or(names.first().copied()).unwrap_or_default();
            let hint = match meant {
                _ if option.starts_with('-') => format!("{option} {example}"),
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("for example {example}"),
            };
            CliError::bad_value(&option, &value, known.join(", "), hint)
        }
        ErrorKind::UnknownArgument => {
            let given = given(ContextKind::InvalidArg);
            if !given.starts_with('-') {
                return CliError::BadUsage { detail: format!("{given:?} is one argument too many"), usage };
            }
            // The parser's own suggestion is the option with the most letters in common, whatever it is about.
            let similar = suggest::options(&given, &crate::cmd::option_names(&usage));
            CliError::UnknownOption { given, similar, usage }
        }
        ErrorKind::InvalidSubcommand => {
            let (given, known) = (given(ContextKind::InvalidSubcommand), crate::cmd::names(&usage));
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let similar = suggest::nearest(&given, &names).map(str::to_string);
            CliError::UnknownCommand { given, similar, known }
        }
        ErrorKind::MissingRequiredArgument => {
            let what = given(ContextKind::InvalidArg);
            if what.contains("SCENE") {
                return CliError::MissingScene { known: select::names() };
            }
            CliError::MissingArgument { what, usage }
        }
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            CliError::BadUsage { detail: first.trim_start_matches("error: ").to_string(), usage }
        }
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::Strings(all) if all.is_empty() => None,
        ContextValue::Strings(all) => Some(all.join(", ")),
        ContextValue::None => None,
        value => Some(value.to_string()),
    }
}

fn list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(all)) => all.clone(),
        _ => Vec::new(),
    }
}

/// `--platform` of `--platform <NAME>`, and `NAME` of `<NAME>` or `[NAME]`.
fn option_name(arg: &str) -> String {
    let name = arg.split_whitespace().next().unwrap_or(arg).trim_end_matches("...");
    name.trim_matches(['<', '>', '[', ']']).to_string()
}

fn one_line(usage: &str) -> String {
    let text = usage.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replacen("Usage:", "usage:", 1)
}
