//! A device made of this machine's threads: the same device runtime and the same bodies, compiled by the C++ compiler, one
//! thread for each block. It shows mistakes of both where there is no GPU, also to a debugger and to sanitizers.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use libloading::Library;
use ringlane_engine::arena::Arena;

use crate::cache::Cached;
use crate::device::{Address, Answer, Device, Launch, Mapped};
use crate::entry::Grid;
use crate::error::DeviceError;
use crate::nodes::{DeviceGraph, Node, Nodes};
use crate::source::Entries;

/// Blocks that run at the same time: more than the cores of most machines that test, so that blocks meet.
const BLOCKS: u32 = 4;
/// Its memory. Addresses only: a page is reserved when it is first used.
const MEMORY_BYTES: u64 = 1 << 38;
const OPTIONS: [&str; 6] = ["-std=c++17", "-O1", "-g1", "-shared", "-fPIC", "-pthread"];

/// Threads that run as blocks.
#[derive(Debug, Default)]
pub(crate) struct HostThreads {
    allocations: Mutex<HashMap<Address, Arena>>,
    library: Mutex<Option<Arc<Library>>>,
    /// The launches that were not joined, the first one first.
    running: Mutex<VecDeque<Running>>,
    launches: AtomicU64,
    /// Whether a thread did not end, so that nothing can be run any more.
    stopped: AtomicBool,
}

/// The threads of a launch.
#[derive(Debug)]
struct Running {
    launch: Launch,
    threads: Vec<JoinHandle<()>>,
    ended: Arc<Ended>,
}

/// How many blocks of a launch have ended.
#[derive(Debug, Default)]
struct Ended {
    blocks: Mutex<u32>,
    more: Condvar,
}

impl Ended {
    fn add(&self) {
        *self.blocks.lock().expect("no panic while it is held") += 1;
        self.more.notify_all();
    }

    fn wait_for(&self, blocks: u32) {
        let held = self.blocks.lock().expect("no panic while it is held");
        drop(self.more.wait_while(held, |ended| *ended < blocks).expect("no panic while it is held"));
    }
}

/// A C++ compiler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Compiler {
    name: String,
    /// Flags that its user adds.
    flags: Vec<String>,
    /// What it says of itself.
    version: String,
}

impl Compiler {
    /// The one that the environment names, if it is there.
    fn find() -> Option<Self> {
        let words = |name| std::env::var(name).unwrap_or_default();
        let name = Some(words("CXX")).filter(|name| !name.is_empty()).unwrap_or_else(|| "c++".to_string());
        let flags = words("CXXFLAGS").split_whitespace().map(str::to_string).collect();
        let version = version_of(&name)?;
        Some(Compiler { name, flags, version })
    }
}

/// What a compiler says of itself; each is asked once.
fn version_of(name: &str) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("no panic while it is held");
    if let Some(version) = known.get(name) {
        return Some(version.clone());
    }
    let answer = Command::new(name).arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&answer.stdout).into_owned();
    known.insert(name.to_string(), version.clone());
    Some(version)
}

impl HostThreads {
    pub(crate) fn open() -> Answer<Self> {
        Compiler::find().map(|_| HostThreads::default()).ok_or_else(|| DeviceError::DeviceUnavailable {
            detail: "there is no C++ compiler (c++, or CXX)".to_string(),
            hint: "install g++ or clang++",
        })
    }

    fn check_lives(&self) -> Answer<()> {
        if !self.stopped.load(Ordering::Relaxed) {
            return Ok(());
        }
        let reason = "a thread that ran a block did not end".to_string();
        Err(DeviceError::DeviceLost { running: String::new(), reason })
    }
}

impl Device for HostThreads {
    fn blocks(&self) -> u32 {
        BLOCKS
    }

    fn free_bytes(&self) -> Answer<u64> {
        Ok(MEMORY_BYTES)
    }

    fn alloc(&self, bytes: u64) -> Answer<Address> {
        let arena = Arena::new(bytes, "a device").map_err(|_| DeviceError::OutOfDeviceMemory {
            wanted: bytes,
            free: 0,
            ring_heap: None,
        })?;
        let at = arena.base() as u64;
        self.allocations.lock().expect("no panic while it is held").insert(at, arena);
        Ok(at)
    }

    fn free(&self, at: Address) {
        if self.stopped.load(Ordering::Relaxed) {
            // A thread may still use it.
            return core::mem::forget(
                self.allocations.lock().expect("no panic while it is held").remove(&at),
            );
        }
        self.allocations.lock().expect("no panic while it is held").remove(&at);
    }

    fn alloc_mapped(&self, bytes: u64) -> Answer<Mapped> {
        self.alloc(bytes).map(|device| Mapped { host: device as *mut u8, device })
    }

    fn free_mapped(&self, memory: Mapped) {
        self.free(memory.device);
    }

    unsafe fn copy_in(&self, from: &[u8], at: Address) -> Answer<()> {
        // SAFETY: the caller's promise: the device's memory is this process's.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), at as *mut u8, from.len()) };
        Ok(())
    }

    unsafe fn copy_out(&self, at: Address, into: &mut [u8]) -> Answer<()> {
        // SAFETY: as above.
        unsafe { core::ptr::copy_nonoverlapping(at as *const u8, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    unsafe fn copy_in_before_launch(&self, from: &[u8], at: Address) -> Answer<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_in(from, at) }
    }

    fn load(&self, source: &str, _: Entries) -> Answer<()> {
        let library = loaded(source)?;
        *self.library.lock().expect("no panic while it is held") = Some(library);
        Ok(())
    }

    unsafe fn launch(&self, grid: &Grid, blocks: u32) -> Answer<Launch> {
        self.check_lives()?;
        let library = self.library.lock().expect("no panic while it is held");
        let library = library.as_ref().expect("the caller loaded a program");
        let mut running = self.running.lock().expect("no panic while it is held");
        // SAFETY: the function has this type in `device/worker.h`.
        let block = unsafe { library.get::<unsafe extern "C" fn(*const Grid, u32)>(b"rl_host_block\0") };
        let block = *block.map_err(|error| DeviceError::DeviceProgram { log: error.to_string() })?;
        // Launches run one after another.
        let before = running.back().map(|before| before.ended.clone());
        let (mut threads, ended) = (Vec::new(), Arc::new(Ended::default()));
        for index in 0..blocks {
            let (grid, before, ended) = (*grid, before.clone(), ended.clone());
            let run = move || {
                if let Some(before) = before {
                    before.wait_for(blocks);
                }
                // SAFETY: the caller vouches for the grid; the library stays until `wait` has joined the thread.
                unsafe { block(&grid, index) };
                ended.add();
            };
            let thread = std::thread::Builder::new().name(format!("block {index}")).spawn(run);
            let thread = thread
                .map_err(|error| DeviceError::DeviceCall { call: "spawn", reason: error.to_string() })?;
            threads.push(thread);
        }
        let launch = self.launches.fetch_add(1, Ordering::Relaxed);
        running.push_back(Running { launch, threads, ended });
        Ok(launch)
    }

    unsafe fn launch_nodes(&self, nodes: &[Node]) -> Answer<Launch> {
        self.wait()?;
        let library = self.library.lock().expect("no panic while it is held");
        let library = library.as_ref().expect("the caller loaded a program");
        // SAFETY: the function has this type in `device/node.h`.
        let node = unsafe { library.get::<unsafe extern "C" fn(*const Node, u32)>(b"rl_host_node\0") };
        let run = *node.map_err(|error| DeviceError::DeviceProgram { log: error.to_string() })?;
        for node in nodes {
            // SAFETY: the caller vouches for the node.
            (0..node.blocks).for_each(|block| unsafe { run(node, block) });
        }
        Ok(self.launches.fetch_add(1, Ordering::Relaxed))
    }

    unsafe fn make_graph(&self, nodes: &Nodes) -> Answer<DeviceGraph> {
        // In submission order, every node comes after those that it follows.
        debug_assert!(
            (0..nodes.len()).all(|node| nodes.before(node).iter().all(|&before| (before as usize) < node))
        );
        Ok(Box::new(nodes.placed().to_vec()))
    }

    unsafe fn launch_graph(&self, graph: &DeviceGraph) -> Answer<Launch> {
        let nodes = graph.downcast_ref::<Vec<Node>>().expect("this device made it");
        // SAFETY: the caller's promise.
        unsafe { self.launch_nodes(nodes) }
    }

    fn has_ended(&self, launch: Launch) -> bool {
        let running = self.running.lock().expect("no panic while it is held");
        let mut until = running.iter().take_while(|one| one.launch <= launch);
        until.all(|one| one.threads.iter().all(JoinHandle::is_finished))
    }

    fn wait_for(&self, launch: Launch) -> Answer<()> {
        self.check_lives()?;
        let mut running = self.running.lock().expect("no panic while it is held");
        while running.front().is_some_and(|one| one.launch <= launch) {
            for thread in running.pop_front().into_iter().flat_map(|one| one.threads) {
                thread.join().expect("code of C++ does not panic");
            }
        }
        Ok(())
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Nothing ends a thread: those that run are never joined. Their program stays.
        self.running.lock().expect("no panic while it is held").clear();
    }

    fn wait(&self) -> Answer<()> {
        self.wait_for(Launch::MAX)
    }
}

/// The library of a program. It stays: a thread may run it, and the next runtime of the process may need it.
fn loaded(source: &str) -> Answer<Arc<Library>> {
    static LOADED: Mutex<BTreeMap<(String, Compiler), Arc<Library>>> = Mutex::new(BTreeMap::new());
    let missing = || DeviceError::DeviceProgram { log: "there is no C++ compiler".to_string() };
    let compiler = Compiler::find().ok_or_else(missing)?;
    let key = (source.to_string(), compiler);
    let mut all = LOADED.lock().expect("no panic while it is held");
    if let Some(library) = all.get(&key) {
        return Ok(library.clone());
    }
    let library = Arc::new(compile(source, &key.1)?);
    all.insert(key, library.clone());
    Ok(library)
}

/// Compiles a program, or finds it in the cache, and loads it.
fn compile(source: &str, compiler: &Compiler) -> Answer<Library> {
    let failed = |log: String| DeviceError::DeviceProgram { log };
    let flags = compiler.flags.join(" ");
    let cached = Cached::of(&[source, &OPTIONS.join(" "), &flags, &compiler.version], "so");
    let directory = tempdir().map_err(|error| failed(error.to_string()))?;
    let (file, library) = (directory.0.join("program.cpp"), directory.0.join("program.so"));
    match cached.read() {
        Some(bytes) => std::fs::write(&library, bytes).map_err(|error| failed(error.to_string()))?,
        None => {
            std::fs::write(&file, source).map_err(|error| failed(error.to_string()))?;
            let mut command = Command::new(&compiler.name);
            command.args(OPTIONS).args(&compiler.flags).arg(&file).arg("-o").arg(&library);
            let done = command.output().map_err(|error| failed(error.to_string()))?;
            if !done.status.success() {
                return Err(failed(String::from_utf8_lossy(&done.stderr).into_owned()));
            }
            if let Ok(bytes) = std::fs::read(&library) {
                cached.write(&bytes);
            }
        }
    }
    // SAFETY: the library is ours, and has no initializers.
    unsafe { Library::new(&library) }.map_err(|error| failed(error.to_string()))
}

/// A directory that is removed with everything in it.
struct Directory(std::path::PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tempdir() -> std::io::Result<Directory> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("ringlane-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&path)?;
    Ok(Directory(path))
}
