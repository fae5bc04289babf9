//! Claims about the file of a node's calls.

use ringlane_task::Explain;

use super::*;
use crate::test_dir::TestDir;

fn meta() -> DistMeta {
    let worker = |name: &str, kind, clock_offset_ticks| DistWorker {
        name: name.to_string(),
        kind,
        pid: 4711,
        clock_offset_ticks,
        clock_error_ticks: Some(9),
        restarts: 1,
    };
    DistMeta {
        platform: "a2a3sim".to_string(),
        clock_freq_hz: 1_000_000_000,
        makespan: Ticks(1000),
        level: 3,
        workers: vec![
            worker("chip0", WorkerKind::Chip, -70),
            worker("function0", WorkerKind::Function, 5),
            worker("node0", WorkerKind::Node, 0),
        ],
        callables: vec!["decode".to_string(), "a \"name\"".to_string()],
    }
}

fn calls() -> Vec<CallRow<'static>> {
    let whole = CallRow {
        member: 1,
        callable: CallableIndex(1),
        sent: Some(Ticks(20)),
        accepted: Some(Ticks(30)),
        run: Some(Ticks(40)),
        end: Some(Ticks(90)),
        done: Some(Ticks(95)),
        dir: Some("chip0/1".into()),
        chip_start: Some(Ticks(45)),
        chip_ticks: Some(2),
        chip_freq_hz: Some(50_000_000),
        ..CallRow::submitted(WorkerIndex(0), CallSeq(1), TaskId(1 << 32), Ticks(10))
    };
    let died = CallRow {
        sent: Some(Ticks(100)),
        done: Some(Ticks(200)),
        status: CallStatus::Died,
        ..CallRow::submitted(WorkerIndex(1), CallSeq(7), TaskId(0), Ticks(11))
    };
    vec![whole, died]
}

fn written(dropped: u64) -> String {
    let mut text = Vec::new();
    let mut writer = DistWriter::new(&mut text, &meta());
    calls().iter().for_each(|call| writer.call(call).unwrap());
    let counts = writer.finish(dropped).unwrap();
    assert_eq!((counts.collected, counts.dropped), (2, dropped));
    String::from_utf8(text).unwrap()
}

fn read(text: &str) -> Result<Dist, String> {
    let dir = TestDir::new();
    let path = dir.join(FILE_NAME);
    std::fs::write(&path, text).unwrap();
    Dist::read(&path).map_err(|error| error.detail())
}

#[test]
fn calls_are_read_back_as_they_were_written_also_those_that_never_ran() {
    let dist = read(&written(3)).unwrap();
    assert_eq!((&dist.head.meta, dist.head.counts.total()), (&meta(), 5));
    assert_eq!(dist.calls, calls());
    let call = &dist.calls[0];
    assert_eq!((dist.worker(call).name.as_str(), dist.callable(call)), ("chip0", "a \"name\""));
}

#[test]
fn columns_are_found_by_name_and_new_ones_are_skipped() {
    let text = written(0).replacen("\"worker\",\"seq\"", "\"seq\",\"worker\",\"colour\"", 1);
    let text = text.replacen("[0,1,", "[1,0,\"red\",", 1).replacen("[1,7,", "[7,1,null,", 1);
    assert_eq!(read(&text).unwrap().calls, calls());
}

#[test]
fn what_is_damaged_is_refused_with_what_is_wrong() {
    let text = written(0);
    let broken = [
        ("\"version\":1", "\"version\":2", "has version 2, known versions: 1"),
        ("\"sent\"", "\"set\"", "there is no column \"sent\""),
        ("\"call_columns\"", "\"columns\"", "call_columns comes after calls"),
        ("\"metadata\"", "\"meta\"", "metadata comes after calls"),
        ("\"kind\":\"chip\"", "\"kind\":\"ship\"", "unknown variant `ship`"),
        ("\"name\":\"chip0\"", "\"name\":\"..\"", "worker \"..\" cannot name a directory"),
        ("\"name\":\"node0\"", "\"name\":\"chip0\"", "two workers are called \"chip0\""),
        ("[0,1,", "[3,1,", "calls record 0: worker 3 of 3"),
        ("[0,1,4294967296,1,1,", "[0,1,4294967296,1,2,", "calls record 0: callable 2 of 2"),
        (",45,2,50000000]", ",45,2]", "chip_freq_hz: invalid length 15"),
        ("\"ok\"", "\"great\"", "status: unknown variant `great`"),
        (",10,20,", ",-1,20,", "submit: invalid value"),
        (",10,20,", ",10,1.5,", "sent: invalid type"),
        ("\"chip0/1\"", "\"../1\"", "\"../1\" is not inside the run directory"),
        ("\"chip0/1\"", "\"/tmp\"", "\"/tmp\" is not inside the run directory"),
        (",45,2,50000000]", ",45,null,50000000]", "belong together"),
        (",45,2,50000000]", ",45,2,0]", "chip_freq_hz is 0"),
        ("\"total\":2", "\"total\":3", "2 collected and 0 dropped are not 3"),
        ("\"total\":2,\"collected\":2", "\"total\":3,\"collected\":3", "calls has 2 rows, collected says 3"),
        ("\"dropped\":0", "\"lost\":0", "missing field `dropped`"),
    ];
    for (from, to, expected) in broken {
        assert!(text.contains(from), "{from}");
        let found = read(&text.replacen(from, to, 1)).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn whatever_a_byte_becomes_the_file_is_read_or_refused() {
    let text = written(0).into_bytes();
    let dir = TestDir::new();
    let path = dir.join(FILE_NAME);
    for at in 0..text.len() {
        let mut damaged = text.clone();
        damaged[at] = [b'0', b'9', b'"', b',', b'-', b'{', 0, 0xff][at % 8];
        std::fs::write(&path, &damaged).unwrap();
        if let Ok(dist) = Dist::read(&path) {
            // What was read can be asked.
            let asked =
                dist.calls.iter().map(|call| dist.worker(call).name.len() + dist.callable(call).len());
            assert!(asked.sum::<usize>() < text.len());
        }
    }
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_refused() {
    let text = written(0);
    for end in 0..text.trim_end().len() {
        assert!(read(&text[..end]).is_err(), "cut at {end}");
    }
}
