//! `ringlane dump` on the scenes: the list, the filters, a planted bug and a planted NaN.

mod common;

use common::expected::expect;
use common::{Answer, Sandbox};

const PLATFORMS: [&str; 2] = ["cpu", "a2a3sim"];

/// Runs `paged_attention` with a dump; `more` are further options.
fn run(sandbox: &Sandbox, dir: &str, platform: &str, more: &[&str]) -> Answer {
    let mut arguments = vec!["run", "paged_attention", "--case", "small", "-p", platform, "-o", dir];
    arguments.extend(more);
    sandbox.ringlane(&arguments)
}

/// Runs of both platforms: good, wrong, and with a NaN.
fn planted() -> Sandbox {
    let sandbox = Sandbox::new();
    for platform in PLATFORMS {
        for plant in ["wrong", "nan"] {
            let (dir, param) = (format!("{platform}-{plant}"), format!("plant={plant}"));
            let answer = run(&sandbox, &dir, platform, &["--dump-tensor", "--dep-gen", "--param", &param]);
            assert_eq!(answer.status, 1, "{}", answer.stderr);
            assert!(answer.line("error: ").starts_with("GoldenMismatch"), "{}", answer.stderr);
        }
        let good = run(&sandbox, &format!("{platform}-good"), platform, &["--dump-tensor", "--dep-gen"]);
        assert_eq!(good.status, 0, "{}", good.stderr);
    }
    sandbox
}

#[test]
fn a_bug_planted_in_one_task_is_found_by_diff_and_a_nan_by_bad() {
    let sandbox = planted();
    for platform in PLATFORMS {
        let dir = |name: &str| format!("{platform}-{name}");
        // A good run of the other platform is as good.
        for good in PLATFORMS.map(|good| format!("{good}-good")) {
            let answer = sandbox.ringlane(&["dump", "diff", &good, &dir("wrong")]);
            assert_eq!(answer.status, 1, "{}", answer.stderr);
            expect("dump_diff_wrong", &answer.stdout);
            let answer = sandbox.ringlane(&["dump", "diff", &good, &dir("nan"), "--all"]);
            assert_eq!(answer.status, 1, "{}", answer.stderr);
            expect("dump_diff_nan", &answer.stdout);
            let answer = sandbox.ringlane(&["dump", "diff", &good, &dir("good"), "--tolerance", "0"]);
            assert_eq!((answer.status, answer.stdout.lines().next()), (0, Some("the runs agree")));
        }
        let answer = sandbox.ringlane(&["dump", "bad", &dir("nan")]);
        assert_eq!(answer.status, 1, "{}", answer.stderr);
        expect("dump_bad", &answer.stdout);
        assert_eq!(sandbox.ringlane(&["dump", "bad", &dir("good")]).status, 0);
        let maker = &sandbox.ringlane(&["dump", "bad", &dir("nan"), "--json"]).json()["maker"];
        assert_eq!((&maker["kernel"], &maker["seq"]), (&"SOFTMAX".into(), &44.into()));
    }
    let found = sandbox.ringlane(&["dump", "diff", "cpu-good", "cpu-wrong", "--json"]).json();
    assert_eq!((&found["verdict"], &found["culprits"][0]["seq"]), (&"culprit".into(), &44.into()));
    assert_eq!(found["culprits"][0]["inputs_from"][0]["producers"][0]["kernel"], "QK");
}

#[test]
fn runs_of_different_programs_are_not_compared_and_different_inputs_are_reported() {
    let sandbox = Sandbox::new();
    run(&sandbox, "all", "cpu", &["--dump-tensor", "--dep-gen"]);
    run(&sandbox, "some", "cpu", &["--dump-tensor=SOFTMAX"]);
    run(&sandbox, "large", "cpu", &["--dump-tensor", "--param", "dim=32"]);
    run(&sandbox, "long", "cpu", &["--dump-tensor", "--param", "batch=5"]);
    run(&sandbox, "none", "cpu", &["--scope-stats"]);
    for (other, detail) in [
        ("some", "A was captured with --dump-tensor=@all, B with SOFTMAX"),
        (
            "large",
            "the programs differ at seq 3: argument 0 of QK is input float32 [16, 64] in A and input float32 [16, 32] in B",
        ),
        ("long", "the programs differ at seq "),
        ("none", "run.json does not list none/tensor_dump/tensor_dump.json"),
        ("nowhere", "nowhere does not exist"),
    ] {
        let answer = sandbox.ringlane(&["dump", "diff", "all", other]);
        assert_eq!((answer.status, &*answer.stdout), (2, ""), "{other}: {}", answer.stderr);
        assert!(answer.line("detail: ").starts_with(detail), "{other}: {}", answer.stderr);
    }
    // The same program on other inputs: context lengths follow from the seed, so one sequence of one length.
    let one = ["--dump-tensor", "--dep-gen", "--param", "batch=1"];
    run(&sandbox, "one", "cpu", &one);
    run(&sandbox, "other", "cpu", &[&one[..], &["--seed", "7"]].concat());
    let answer = sandbox.ringlane(&["dump", "diff", "one", "other"]);
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let text = &answer.stdout;
    assert!(text.starts_with("the inputs differ: task 2:0 (seq 3) QK is the first"), "{text}");
    assert!(text.contains("  arg 0 comes from an external tensor\n"), "{text}");
    assert!(!text.contains("culprit"), "{text}");
    let answer = sandbox.ringlane(&["dump", "diff", "all", "all", "--tolerance", "-1"]);
    assert_eq!(answer.status, 2, "{}", answer.stdout);
}

#[test]
fn the_list_and_the_statistics_are_as_expected_and_do_not_depend_on_the_chip() {
    let sandbox = Sandbox::new();
    for platform in PLATFORMS {
        run(&sandbox, platform, platform, &["--dump-tensor=SOFTMAX,QK:3"]);
        expect("dump_list", &sandbox.ringlane(&["dump", platform]).stdout);
        let answer = sandbox.ringlane(&["dump", platform, "--task", "2:5", "--print"]);
        expect("dump_print", &answer.stdout);
    }
}

#[test]
fn filters_combine_and_list_what_exists_if_nothing_matches() {
    let sandbox = Sandbox::new();
    run(&sandbox, "r", "a2a3sim", &["--dump-tensor"]);
    let count = |filters: &[&str]| {
        let answer = sandbox.ringlane(&[&["dump", "r", "--json"], filters].concat());
        answer.json()["records"].as_array().unwrap().len()
    };
    let all = count(&[]);
    assert_eq!(count(&["--kind", "tensor"]) + count(&["--kind", "scalar"]), all);
    assert_eq!(count(&["--stage", "before"]) + count(&["--stage", "after_completion"]), all);
    let roles = ["input", "output", "inout"].map(|role| count(&["--role", role]));
    assert_eq!(roles.iter().sum::<usize>(), all);
    assert_eq!(count(&["--task", "2:1"]), count(&["--task", "8589934593"]));
    assert_eq!(count(&["--task", "2:1", "--arg", "0", "--role", "inout", "--stage", "after"]), 1);
    assert_eq!(count(&["--index", "3"]), 1);
    assert_eq!(count(&["--kernel", "QK", "--kind", "scalar"]) * 4, count(&["--kernel", "QK"]));
    for nothing in [&["--kernel", "qk"][..], &["--index", "9999"], &["--kernel", "QK", "--role", "inout"]] {
        let answer = sandbox.ringlane(&[&["dump", "r"], nothing].concat());
        assert_eq!((answer.status, &*answer.stdout), (2, ""), "{nothing:?}");
        assert!(answer.line("error: ").starts_with("NothingSelected"), "{}", answer.stderr);
        assert!(answer.line("detail: ").contains("kernels NORMALISE, PV, QK, SOFTMAX, UPDATE"));
    }
    for bad in [["--task", "x"], ["--stage", "during"], ["--role", "no"], ["--kind", "no"], ["--arg", "-1"]] {
        let answer = sandbox.ringlane(&["dump", "r", bad[0], bad[1]]);
        assert_eq!((answer.status, &*answer.stdout), (2, ""), "{bad:?}");
        assert!(answer.line("error: ").starts_with("BadValue"), "{}", answer.stderr);
    }
}

#[test]
fn a_hidden_parameter_can_be_given_and_is_not_listed() {
    let sandbox = Sandbox::new();
    assert!(!sandbox.ringlane(&["list"]).stdout.contains("plant"));
    assert!(!sandbox.ringlane(&["list", "--json"]).stdout.contains("plant"));
    run(&sandbox, "r", "cpu", &[]);
    assert!(sandbox.manifest()["params"].get("plant").is_none());
    let answer = run(&sandbox, "s", "cpu", &["--param", "plant=x"]);
    assert_eq!(answer.status, 2);
    assert!(answer.line("error: ").starts_with("BadParam"), "{}", answer.stderr);
}
