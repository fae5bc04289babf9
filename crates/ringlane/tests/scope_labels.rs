//! Labels of scopes: in the recording, in its answers, on the page and in a deadlock.

use ringlane::prelude::*;
use ringlane::trace::scopes::Scopes;

kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }

fn layers(o: &mut Orch<'_, '_>) -> Result<()> {
    for layer in 0..3u32 {
        o.scope_named(&format!("layer {layer}"), |o| {
            o.submit(&SET, [out(u32, [4]), scalar(layer)])?;
            o.scope(|o| o.submit(&SET, [out(u32, [4]), scalar(layer)]).map(drop))
        })?;
    }
    Ok(())
}

#[test]
fn a_label_is_in_the_recording_beside_the_source_line_and_on_the_page() {
    let dir = tempfile::tempdir().unwrap();
    for (number, platform) in [Platform::Cpu, Platform::A2a3sim, Platform::A5sim].into_iter().enumerate() {
        let run = dir.path().join(number.to_string());
        let mut runtime = Runtime::on(platform).with(&CallConfig::default()).unwrap();
        runtime.record(&run).unwrap().run(&mut Buffers::new(), layers).result.unwrap();
        let scopes = Scopes::read(&run).unwrap().scopes;
        let labels: Vec<_> = scopes.iter().map(|scope| scope.label.as_deref()).collect();
        let expected = [None, Some("layer 0"), None, Some("layer 1"), None, Some("layer 2"), None];
        assert_eq!(labels, expected, "inner scopes end first, the root last");
        assert!(scopes[1].place().ends_with(" \"layer 0\""), "{}", scopes[1].place());
        let recording = runtime.recording().unwrap();
        assert!(recording.check().unwrap().broken.is_empty());
        let summary = ringlane::insight::scopes::summarize(&Scopes::read(&run).unwrap(), 1_000_000);
        let labels: Vec<_> = summary.sites.iter().filter_map(|site| site.label.as_deref()).collect();
        assert_eq!(labels, ["layer 0 … layer 2 (3 labels)"]);
        let page = std::fs::read_to_string(recording.report().unwrap()).unwrap();
        assert!(page.contains("layer 2"), "the page names it");
    }
}

#[test]
fn a_deadlock_names_the_label_of_its_scope() {
    let config = CallConfig::default().with_ring_task_window([16; 4]);
    let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
    let run = runtime.run(&mut Buffers::new(), |o| {
        o.scope_named("all at once", |o| {
            (0..100u32).try_for_each(|i| o.submit(&SET, [out(u32, [4]), scalar(i)]).map(drop))
        })
    });
    let error = run.result.unwrap_err();
    assert_eq!(error.name(), "FlowControlDeadlock");
    assert!(error.detail().contains("\"all at once\""), "{}", error.detail());
}

#[test]
fn a_label_is_cut_at_a_character_and_nested_labels_come_back() {
    let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default()).unwrap();
    let long = "ä".repeat(1000);
    let run = runtime.run(&mut Buffers::new(), |o| {
        o.scope_named(&long, |o| {
            o.scope_named("inner", |o| o.submit(&SET, [out(u32, [4]), scalar(1u32)]).map(drop))?;
            o.submit(&SET, [out(u32, [4]), scalar(2u32)]).map(drop)
        })
    });
    run.result.unwrap();
}
