//! A scratch folder with a home of its own, and the binary run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A scratch folder that goes away with the value.
pub struct Scratch {
    folder: tempfile::TempDir,
}

/// What a run of the binary gave.
#[derive(Debug)]
pub struct Run {
    /// The exit code; -1 where a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Scratch {
    /// Makes a scratch folder.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder can be made");
        std::fs::create_dir_all(folder.path().join("home")).expect("a home can be made");
        std::fs::create_dir_all(folder.path().join("work")).expect("a work folder can be made");
        Self { folder }
    }

    /// The folder commands run in.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes a file below the work folder, with the folders above it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let full = self.work().join(path);
        let parent = full.parent().expect("a file has a folder");
        std::fs::create_dir_all(parent).expect("the folder can be made");
        std::fs::write(&full, content).expect("the file can be written");
        full
    }

    /// Reads a file below the work folder.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.work().join(path)).expect("the file can be read")
    }

    /// Runs a program in the work folder with this home, no terminal and no colour.
    pub fn run(&self, program: &Path, arguments: &[&str]) -> Run {
        self.run_with(program, arguments, &[])
    }

    /// Runs a program with further environment variables.
    pub fn run_with(&self, program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.work())
            .env("HOME", self.folder.path().join("home"))
            .env("NO_COLOR", "1")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            // No test touches the keyring of whoever runs it.
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env_remove("XDG_RUNTIME_DIR")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("the program can be started");
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
