//! A temporary directory with its own home, in which tests run the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A function that receives the arguments and the result of a run.
pub type RunObserver = fn(&[&str], &ProgramRun);

static OBSERVER: OnceLock<RunObserver> = OnceLock::new();

/// Sets a function that is called for every later run of a [`ScratchFolder`]. Only the first call has an effect.
pub fn observe_runs(observer: RunObserver) {
    OBSERVER.get_or_init(|| observer);
}

/// A temporary directory that is deleted with the value.
pub struct ScratchFolder {
    folder: tempfile::TempDir,
}

/// The result of running a program.
#[derive(Debug)]
pub struct ProgramRun {
    /// The exit code; -1 if a signal ended the program.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl ScratchFolder {
    /// Creates a temporary directory.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch directory can be created");
        std::fs::create_dir_all(folder.path().join("home")).expect("a home can be created");
        std::fs::create_dir_all(folder.path().join("work")).expect("a work directory can be created");
        Self { folder }
    }

    /// Returns the directory that commands run in.
    pub fn work_folder(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes a file below the work directory, and creates its parent directories.
    pub fn write_file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let full = self.work_folder().join(path);
        let parent = full.parent().expect("a file has a parent directory");
        std::fs::create_dir_all(parent).expect("the directory can be created");
        std::fs::write(&full, content).expect("the file can be written");
        full
    }

    /// Reads a file below the work directory.
    pub fn read_file(&self, path: &str) -> String {
        std::fs::read_to_string(self.work_folder().join(path)).expect("the file can be read")
    }

    /// Runs a program in the work directory with this home, without a terminal or color.
    pub fn run_program(&self, program: &Path, arguments: &[&str]) -> ProgramRun {
        self.run_with_environment(program, arguments, &[])
    }

    /// Runs a program with additional environment variables.
    pub fn run_with_environment(&self, program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> ProgramRun {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.work_folder())
            .env("HOME", self.folder.path().join("home"))
            .env("NO_COLOR", "1")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            // Tests must not access the keyring of the user who runs them.
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env_remove("XDG_RUNTIME_DIR")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("the program can be started");
        let run = ProgramRun {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        if let Some(observe) = OBSERVER.get() {
            observe(arguments, &run);
        }
        run
    }
}

impl Default for ScratchFolder {
    fn default() -> Self {
        Self::new()
    }
}
