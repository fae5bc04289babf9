//! How the chip is run, as fields of a request. The chip itself checks what they say when it is made.

use ringlane_engine::chip_runtime::{Capabilities, ChipOptions, Costs};
use ringlane_engine::slowdown::Slowdown;
use ringlane_task::{ChipSpec, ControlCosts, HostMemory, LinkSpec, Rates, RecordMemory};

use super::error::RequestError;
use super::wire::{Field, Fields, Reader, Writer, text};

/// Numbers of a chip's description.
const NUMBERS: usize = 31;

/// Adds what is not the platform's own. A policy is of no account where there are none.
pub fn write(options: &ChipOptions, platform: &Capabilities, writer: &mut Writer) {
    // Durations stay in this process: a replay is run by the one that read the graph.
    let ChipOptions { spec, policy, chaos, costs, slow, durations: _ } = options;
    if let Some(chip) = spec {
        writer.field(Field::Chip, &chip_bytes(chip));
    }
    if let Some(policy) = policy.filter(|_| !platform.policies.is_empty()) {
        writer.field(Field::Policy, policy.as_bytes());
    }
    if let Some(seed) = chaos {
        writer.field(Field::Chaos, &seed.to_le_bytes());
    }
    if let Some(costs) = costs {
        writer.field(Field::Costs, costs.to_text().as_bytes());
    }
    if !slow.is_empty() {
        let lines = slow.iter().map(|slow| format!("{}={}\n", slow.kernel, slow.factor));
        writer.field(Field::Slow, lines.collect::<String>().as_bytes());
    }
}

/// Reads it back, for a platform.
pub fn read(fields: &Fields<'_>, platform: &Capabilities) -> Result<ChipOptions, RequestError> {
    Ok(ChipOptions {
        spec: fields.get(Field::Chip).map(chip).transpose()?,
        policy: fields.get(Field::Policy).map(|name| policy(name, platform)).transpose()?,
        chaos: fields.get(Field::Chaos).map(chaos).transpose()?,
        costs: costs(fields)?,
        slow: fields.get(Field::Slow).map_or(Ok(Vec::new()), slow)?,
        durations: None,
    })
}

/// One line for each kernel: its name and its factor.
fn slow(bytes: &[u8]) -> Result<Vec<Slowdown>, RequestError> {
    let one = |line: &str| {
        let (kernel, factor) = line.rsplit_once('=')?;
        let factor = factor.parse().ok().filter(|factor| (1.0..=1e6).contains(factor))?;
        Some(Slowdown { kernel: kernel.to_string(), factor })
    };
    let lines = text(Field::Slow, bytes)?.lines();
    lines
        .map(|line| one(line).ok_or_else(|| RequestError::corrupt("slowdown of a kernel", line.len() as u64)))
        .collect()
}

fn policy(bytes: &[u8], platform: &Capabilities) -> Result<&'static str, RequestError> {
    let name = text(Field::Policy, bytes)?;
    let mut known = platform.policies.iter().copied();
    let found = known.clone().find(|policy| *policy == name);
    found.ok_or_else(|| RequestError::unknown_name(Field::Policy, name, known.by_ref()))
}

#[cfg(feature = "sim")]
fn costs(fields: &Fields<'_>) -> Result<Option<Costs>, RequestError> {
    use ringlane_chip_sim::cost::CostTable;
    let Some(json) = fields.get(Field::Costs) else { return Ok(None) };
    let table = CostTable::parse(json, "the run's request".as_ref()).map_err(RequestError::Costs)?;
    Ok(Some(Costs::new(table)))
}

#[cfg(not(feature = "sim"))]
fn costs(fields: &Fields<'_>) -> Result<Option<Costs>, RequestError> {
    fields.refuse(Field::Costs).map(|()| None)
}

fn chaos(bytes: &[u8]) -> Result<u64, RequestError> {
    let mut reader = Reader::new(Field::Chaos, bytes);
    let seed = reader.u64()?;
    reader.end().map(|()| seed)
}

fn chip_bytes(chip: &ChipSpec) -> Vec<u8> {
    let texts = [&chip.name, &chip.about];
    let lengths = texts.map(|text| text.len() as u64);
    let words = numbers(chip).into_iter().chain(lengths).flat_map(u64::to_le_bytes);
    words.chain(texts.into_iter().flat_map(|text| text.bytes())).collect()
}

fn chip(bytes: &[u8]) -> Result<ChipSpec, RequestError> {
    let mut reader = Reader::new(Field::Chip, bytes);
    let mut numbers = [0; NUMBERS];
    for number in &mut numbers {
        *number = reader.u64()?;
    }
    let (name_bytes, about_bytes) = (reader.u64()?, reader.u64()?);
    let name = text(Field::Chip, reader.take(name_bytes)?)?.to_string();
    let about = text(Field::Chip, reader.take(about_bytes)?)?.to_string();
    reader.end()?;
    from_numbers(numbers, name, about)
}

/// Every number of a chip, in the order of the encoding. A new one is added here, in [`from_numbers`] and to the version.
fn numbers(chip: &ChipSpec) -> [u64; NUMBERS] {
    let ChipSpec { costs: c, link: l, rates: r, records, mailbox: [mailbox_run, mailbox_task], .. } = chip;
    let host_memory = match chip.host_memory {
        HostMemory::Mapped => 0,
        HostMemory::Copied => 1,
    };
    let [aic_flops, aiv_flops, memory_bytes] = [r.aic_flops, r.aiv_flops, r.memory_bytes].map(f64::to_bits);
    let counts = [chip.clusters, chip.aiv_per_cluster, chip.schedulers, chip.schedulers_max];
    let [clusters, aiv_per_cluster, schedulers, schedulers_max] = counts.map(u64::from);
    [
        clusters,
        aiv_per_cluster,
        schedulers,
        schedulers_max,
        chip.counter_hz,
        chip.pmu_counters.into(),
        host_memory,
        chip.dispatch_ahead.into(),
        c.dispatch_store,
        c.poll,
        c.dispatch_seen,
        c.turn_around,
        c.done_seen,
        c.admit,
        c.look_up,
        c.insert,
        c.wire,
        c.resolve,
        c.reclaim,
        c.round,
        l.latency,
        l.bytes_per_second,
        aic_flops,
        aiv_flops,
        memory_bytes,
        chip.default_block,
        chip.silent_after,
        records.buffers.into(),
        records.buffer_bytes,
        *mailbox_run,
        *mailbox_task,
    ]
}

fn from_numbers(numbers: [u64; NUMBERS], name: String, about: String) -> Result<ChipSpec, RequestError> {
    let mut numbers = numbers.into_iter();
    let mut next = || numbers.next().expect("there are as many as are written");
    let count =
        |value: u64| u32::try_from(value).map_err(|_| RequestError::corrupt("count of a chip", value));
    // Fields are read in the order in which they are written here.
    Ok(ChipSpec {
        name,
        about,
        clusters: count(next())?,
        aiv_per_cluster: count(next())?,
        schedulers: count(next())?,
        schedulers_max: count(next())?,
        counter_hz: next(),
        pmu_counters: count(next())?,
        host_memory: match next() {
            0 => HostMemory::Mapped,
            1 => HostMemory::Copied,
            other => return Err(RequestError::corrupt("host memory of a chip", other)),
        },
        dispatch_ahead: count(next())?,
        costs: ControlCosts {
            dispatch_store: next(),
            poll: next(),
            dispatch_seen: next(),
            turn_around: next(),
            done_seen: next(),
            admit: next(),
            look_up: next(),
            insert: next(),
            wire: next(),
            resolve: next(),
            reclaim: next(),
            round: next(),
        },
        link: LinkSpec { latency: next(), bytes_per_second: next() },
        rates: Rates {
            aic_flops: f64::from_bits(next()),
            aiv_flops: f64::from_bits(next()),
            memory_bytes: f64::from_bits(next()),
        },
        default_block: next(),
        silent_after: next(),
        records: RecordMemory { buffers: count(next())?, buffer_bytes: next() },
        mailbox: [next(), next()],
    })
}
