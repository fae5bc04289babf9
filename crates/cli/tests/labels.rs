//! Tasks with names, and kernels with any number of tensors: what files and commands make of them.

mod common;

use std::fs;
use std::path::Path;

use common::{Sandbox, checked};
use ringlane::prelude::*;
use ringlane_trace::deps::Deps;

kernel! { static PART = any fn(x: &mut [f32], value: f32) { x.fill(value); } }
kernel! { static GATHER = any fn(total: &mut [f32], parts: Rest<&[f32]>) {
    parts.for_each(|part| total.iter_mut().zip(part).for_each(|(t, p)| *t += p));
} }

/// A label with what text, JSON and a terminal take for something else.
const ODD: &str = "sum \"of\" <all>\u{1b}[31m\n";

/// Five parts with names of their own, and their sum.
fn program(o: &mut Orch<'_, '_>) -> Result<Vec<f32>> {
    let mut args = vec![out(f32, [4])];
    for layer in 0..5u32 {
        let part =
            o.submit(PART.labelled(&format!("layer {layer}")), [out(f32, [4]), scalar(layer as f32)])?;
        args.push(part.out(0).read());
    }
    let sum = o.submit_slice(&[], GATHER.labelled(ODD), &args)?.out(0);
    o.submit(&PART, [out(f32, [4]), scalar(1f32)])?;
    o.read::<f32>(sum)
}

fn record(platform: Platform, dir: &Path) {
    let mut config = CallConfig::default().with_dfx_flags(DfxFlags::from_bits(0x7f).unwrap());
    config.set_output_prefix(dir.to_str().unwrap()).unwrap();
    let run = Runtime::on(platform).with(&config).unwrap().run(&mut Buffers::new(), program);
    assert_eq!(run.result.unwrap(), [10.0; 4]);
    checked(dir);
}

#[test]
fn labels_are_in_deps_json_on_every_platform_and_tasks_without_one_have_no_such_field() {
    let sandbox = Sandbox::new();
    for platform in [Platform::Cpu, Platform::A2a3sim, Platform::A5sim] {
        let dir = sandbox.path().join(platform.as_str());
        record(platform, &dir);
        let deps = Deps::read(&dir).unwrap();
        let labels: Vec<_> = deps.tasks.iter().map(|task| task.label.as_deref()).collect();
        let layers: Vec<_> = (0..5).map(|layer| format!("layer {layer}")).collect();
        let expected = layers.iter().map(|layer| Some(layer.as_str())).chain([Some(ODD), None]);
        assert_eq!(labels, expected.collect::<Vec<_>>(), "{platform}");
        // The sum waits for all parts, which it has as arguments.
        let sum = &deps.tasks[5];
        assert_eq!((sum.args.len(), deps.edges.iter().filter(|e| e.succ == sum.task_id).count()), (6, 5));
        let text = fs::read_to_string(dir.join("deps.json")).unwrap();
        assert_eq!(text.matches("\"label\":").count(), 6);
    }
}

#[test]
fn commands_show_labels_beside_kernels_and_print_nothing_that_a_terminal_obeys() {
    let sandbox = Sandbox::new();
    record(Platform::A2a3sim, &sandbox.path().join("run"));
    let shown = r#"GATHER "sum \"of\" <all>\u{1b}[31m\n""#;
    for command in [&["deps", "run"][..], &["critical-path", "run", "--segments"], &["dump", "run"]] {
        let answer = sandbox.ringlane(command);
        assert_eq!(answer.status, 0, "{command:?}: {}", answer.stderr);
        assert!(answer.stdout.contains(shown), "{command:?}: {}", answer.stdout);
        assert!(!answer.stdout.contains('\u{1b}'), "{command:?}");
    }
    for (command, key) in
        [(&["critical-path", "run", "--json"], "segments"), (&["dump", "run", "--json"], "records")]
    {
        let rows = sandbox.ringlane(command).json()[key].as_array().unwrap().clone();
        assert!(rows.iter().any(|row| row["label"] == ODD), "{command:?}");
    }
    assert_eq!(
        sandbox.ringlane(&["dump", "run", "--print", "--kernel", "GATHER"]).stdout.matches(shown).count(),
        6
    );
}

#[test]
fn labels_are_on_the_page_and_in_the_trace() {
    let sandbox = Sandbox::new();
    record(Platform::A2a3sim, &sandbox.path().join("run"));
    assert_eq!(sandbox.ringlane(&["report", "run", "-o", "page.html"]).status, 0);
    let labels = sandbox.page_data("page.html")["names"]["labels"].as_array().unwrap().clone();
    assert_eq!((labels.len(), labels[0].as_str(), labels[5].as_str()), (6, Some("layer 0"), Some(ODD)));
    assert_eq!(sandbox.ringlane(&["swimlane", "run", "-o", "trace.json"]).status, 0);
    let trace: serde_json::Value =
        serde_json::from_slice(&fs::read(sandbox.path().join("trace.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |name: &str| {
        let named = events.iter().filter(|event| event["name"] == name);
        named.map(|event| event["args"]["label"].as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of("GATHER"), [Some(ODD)]);
    assert_eq!(of("submit GATHER"), [Some(ODD)]);
    let mut parts = of("PART");
    parts.sort_unstable();
    assert_eq!(parts.len(), 6);
    assert_eq!((parts[0], parts[1]), (None, Some("layer 0")));
}
