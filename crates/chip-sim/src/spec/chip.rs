//! The fields of a chip file, and their allowed values.

use ringlane_task::{ChipSpec, ControlCosts, HostMemory, LinkSpec, Rates, RecordMemory};
use toml::de::DeTable;

use super::error::SpecError;
use super::fields::{Document, Section};
use super::limits::{
    AIV_PER_CLUSTER, CLUSTERS, COUNTER_HZ, DISPATCH_AHEAD, NAME_CHARS, PMU_COUNTERS, RATE, RECORD_BUFFERS,
    RECORD_BYTES, SCHEDULERS_MAX, SECOND, SILENT_AFTER, TEXT_CHARS, TIME,
};
use super::quantity::{self, FREQUENCY};

const TABLES: &[&str] = &[
    "name", "about", "cores", "control", "memory", "records", "dispatch", "submit", "schedule", "link",
    "rates", "kernel", "mailbox",
];
const CORES: &[&str] = &["clusters", "aiv_per_cluster", "pmu_counters"];
const CONTROL: &[&str] = &["schedulers", "schedulers_max", "counter", "dispatch_ahead", "silent_after"];
const MEMORY: &[&str] = &["host"];
const RECORDS: &[&str] = &["buffers", "buffer"];
const DISPATCH: &[&str] = &["store", "seen", "turn_around", "done_seen", "poll"];
const SUBMIT: &[&str] = &["admit", "look_up", "insert", "wire"];
const SCHEDULE: &[&str] = &["resolve", "reclaim", "round"];
const LINK: &[&str] = &["latency", "bandwidth"];
const RATES: &[&str] = &["aic", "aiv", "memory"];
const KERNEL: &[&str] = &["default_block"];
const MAILBOX: &[&str] = &["run", "task"];

/// Parses the text of a chip file; errors name `origin` as the file.
///
/// All fields are required, and no others are allowed: a chip never depends on a default that its file does not show.
pub fn parse(text: &str, origin: &str) -> Result<ChipSpec, SpecError> {
    let document = Document { text, origin };
    let tables = DeTable::parse(text).map_err(|error| SpecError::Syntax {
        place: document.place(&error.span().unwrap_or(0..0), String::new()),
        message: error.message().replace(char::is_control, " "),
    })?;
    let chip = Section::whole(document, &tables, TABLES)?;
    let (name, about) = (name(&chip)?, about(&chip)?);
    let cores = chip.section("cores", CORES)?;
    let control = chip.section("control", CONTROL)?;
    let (schedulers, schedulers_max) = schedulers(&control)?;
    let kernel = chip.section("kernel", KERNEL)?;
    Ok(ChipSpec {
        name,
        about,
        clusters: cores.count("clusters", &CLUSTERS)?,
        aiv_per_cluster: cores.count("aiv_per_cluster", &AIV_PER_CLUSTER)?,
        schedulers,
        schedulers_max,
        counter_hz: control.quantity("counter", &FREQUENCY, &COUNTER_HZ, whole_ticks)?,
        pmu_counters: cores.count("pmu_counters", &PMU_COUNTERS)?,
        host_memory: host_memory(&chip)?,
        dispatch_ahead: control.count("dispatch_ahead", &DISPATCH_AHEAD)?,
        costs: costs(&chip)?,
        link: link(&chip)?,
        rates: rates(&chip)?,
        default_block: time(&kernel, "default_block")?,
        silent_after: control.sourced("silent_after", &quantity::TIME, &SILENT_AFTER)?,
        records: records(&chip)?,
        mailbox: mailbox(&chip)?,
    })
}

/// A name becomes part of tables and file names.
fn name(chip: &Section<'_>) -> Result<String, SpecError> {
    let allowed = format!("1 to {NAME_CHARS} printable characters without '/'");
    let is_fit = |text: &str| text.chars().count() <= NAME_CHARS && !text.contains('/');
    chip.text("name", &allowed, "name = \"mine\"", is_fit).map(str::to_string)
}

fn about(chip: &Section<'_>) -> Result<String, SpecError> {
    let allowed = format!("a description in 1 to {TEXT_CHARS} characters on one line");
    let is_fit = |text: &str| text.chars().count() <= TEXT_CHARS;
    chip.text("about", &allowed, "about = \"a2a3sim with twice the vector cores\"", is_fit)
        .map(str::to_string)
}

fn schedulers(control: &Section<'_>) -> Result<(u32, u32), SpecError> {
    let most = control.count("schedulers_max", &(1..=SCHEDULERS_MAX))?;
    let used = control.count("schedulers", &(1..=u64::from(most)))?;
    Ok((used, most))
}

/// If a tick were not an integer number of picoseconds, time stamps would drift against the times they round.
fn whole_ticks(hertz: u64) -> Result<(), String> {
    if SECOND.is_multiple_of(hertz) {
        return Ok(());
    }
    // A tick of n picoseconds is an integer number of hertz only if n divides the second.
    let of_tick = |tick: u64| SECOND.is_multiple_of(tick).then(|| SECOND / tick);
    let tick = SECOND / hertz;
    let above = (1..=tick).rev().find_map(of_tick);
    let below = (tick + 1..=SECOND / COUNTER_HZ.start()).find_map(of_tick);
    let near: Vec<String> = below.into_iter().chain(above).map(quantity::frequency_text).collect();
    Err(format!(
        "frequencies whose tick is a whole number of picoseconds; the nearest are {}",
        near.join(" and ")
    ))
}

fn host_memory(chip: &Section<'_>) -> Result<HostMemory, SpecError> {
    let memory = chip.section("memory", MEMORY)?;
    memory.word("host", &[("mapped", HostMemory::Mapped), ("copied", HostMemory::Copied)])
}

fn records(chip: &Section<'_>) -> Result<RecordMemory, SpecError> {
    let records = chip.section("records", RECORDS)?;
    Ok(RecordMemory {
        buffers: records.sourced_count("buffers", &RECORD_BUFFERS)?,
        buffer_bytes: records.sourced("buffer", &quantity::SIZE, &RECORD_BYTES)?,
    })
}

fn costs(chip: &Section<'_>) -> Result<ControlCosts, SpecError> {
    let dispatch = chip.section("dispatch", DISPATCH)?;
    let submit = chip.section("submit", SUBMIT)?;
    let schedule = chip.section("schedule", SCHEDULE)?;
    Ok(ControlCosts {
        dispatch_store: time(&dispatch, "store")?,
        poll: time(&dispatch, "poll")?,
        dispatch_seen: time(&dispatch, "seen")?,
        turn_around: time(&dispatch, "turn_around")?,
        done_seen: time(&dispatch, "done_seen")?,
        admit: time(&submit, "admit")?,
        look_up: time(&submit, "look_up")?,
        insert: time(&submit, "insert")?,
        wire: time(&submit, "wire")?,
        resolve: time(&schedule, "resolve")?,
        reclaim: time(&schedule, "reclaim")?,
        round: time(&schedule, "round")?,
    })
}

fn link(chip: &Section<'_>) -> Result<LinkSpec, SpecError> {
    let link = chip.section("link", LINK)?;
    Ok(LinkSpec {
        latency: time(&link, "latency")?,
        bytes_per_second: link.sourced("bandwidth", &quantity::BANDWIDTH, &RATE)?,
    })
}

fn rates(chip: &Section<'_>) -> Result<Rates, SpecError> {
    let rates = chip.section("rates", RATES)?;
    Ok(Rates {
        aic_flops: rates.sourced("aic", &quantity::FLOPS, &RATE)? as f64,
        aiv_flops: rates.sourced("aiv", &quantity::FLOPS, &RATE)? as f64,
        memory_bytes: rates.sourced("memory", &quantity::BANDWIDTH, &RATE)? as f64,
    })
}

fn mailbox(chip: &Section<'_>) -> Result<[u64; 2], SpecError> {
    let mailbox = chip.section("mailbox", MAILBOX)?;
    Ok([time(&mailbox, "run")?, time(&mailbox, "task")?])
}

fn time(section: &Section<'_>, name: &str) -> Result<u64, SpecError> {
    section.sourced(name, &quantity::TIME, &TIME)
}
