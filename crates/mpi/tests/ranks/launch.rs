//! Starts mpirun, and inspects its output.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const PATIENCE: Duration = Duration::from_secs(60);

/// Whether mpirun has started this process.
pub fn is_rank() -> bool {
    std::env::var_os("OMPI_COMM_WORLD_RANK").is_some()
}

/// The outcome of a run.
#[derive(Debug)]
#[allow(dead_code, reason = "a failed assertion shows all of it")]
pub struct Ended {
    pub succeeded: bool,
    pub output: String,
    pub after: Duration,
}

/// A running mpirun.
pub struct Mpirun {
    child: Child,
    output: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
    start: Instant,
}

impl Mpirun {
    /// Starts `ranks` ranks in a role.
    pub fn start(ranks: u32, role: &str) -> Self {
        let mut command = Command::new("mpirun");
        command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()]);
        command.arg(std::env::current_exe().expect("this program")).arg(role);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("mpirun: is openmpi-bin installed?");
        let output = Arc::new(Mutex::new(String::new()));
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().expect("piped")), Box::new(child.stderr.take().expect("piped"))];
        let readers = streams.map(|stream| keep(stream, Arc::clone(&output)));
        Mpirun { child, output, readers: readers.into(), start: Instant::now() }
    }

    /// Waits until every rank has printed its process id.
    pub fn wait_for_ranks(&mut self, ranks: usize) -> Vec<u32> {
        loop {
            let text = self.output.lock().expect("a lock").clone();
            let said = |rank| {
                let begin = format!("rank {rank} is process ");
                text.lines().find_map(|line| line.strip_prefix(&begin)?.trim().parse().ok())
            };
            if let Some(all) = (0..ranks).map(said).collect() {
                return all;
            }
            assert!(self.start.elapsed() < PATIENCE, "not all ranks are up: {text}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until a rank has printed `text`.
    pub fn wait_for(&self, text: &str) {
        while !self.output.lock().expect("a lock").contains(text) {
            assert!(self.start.elapsed() < PATIENCE, "no rank printed: {text}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Ended {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            if start.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("it hangs: {}", self.output.lock().expect("a lock"));
            }
            thread::sleep(Duration::from_millis(5));
        };
        let after = start.elapsed();
        self.readers.into_iter().for_each(|reader| reader.join().expect("a reader"));
        let output = self.output.lock().expect("a lock").clone();
        Ended { succeeded: status.success(), output, after }
    }
}

fn keep(mut stream: Box<dyn Read + Send>, output: Arc<Mutex<String>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            output.lock().expect("a lock").push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    })
}

/// Kills a rank like the kernel when memory is exhausted.
pub fn kill(process: u32) {
    let pid = Pid::from_raw(process as i32).expect("a process");
    kill_process(pid, Signal::KILL).expect("it is ours");
}

/// Fails unless all of these processes end soon.
pub fn assert_all_gone(processes: &[u32]) {
    let start = Instant::now();
    for &process in processes {
        let pid = Pid::from_raw(process as i32).expect("a process");
        while test_kill_process(pid).is_ok() {
            assert!(start.elapsed() < Duration::from_secs(5), "process {process} is still there");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
