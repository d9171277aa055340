//! The registry `docker-registry` of the distribution project, started for a test.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{DEADLINE, is_program_installed, wait_until};

/// A registry on this machine that ends with the value.
pub struct Registry {
    child: Child,
    /// The host and port.
    pub address: String,
}

/// How a registry is protected.
#[derive(Clone, Debug, Default)]
pub struct RegistryProtection {
    /// The certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// A file with names and passwords, as `htpasswd -B` writes it.
    pub passwords: Option<PathBuf>,
}

impl Registry {
    /// Starts a registry whose content is in a directory. Reports if none is installed.
    pub fn start(folder: &Path) -> Option<Self> {
        Self::start_protected(folder, &RegistryProtection::default())
    }

    /// Starts a registry with TLS and passwords.
    pub fn start_protected(folder: &Path, protection: &RegistryProtection) -> Option<Self> {
        if !is_program_installed("docker-registry") {
            return None;
        }
        std::fs::create_dir_all(folder).expect("the directory can be created");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port is free").port();
        let mut settings = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem: {{rootdirectory: '{}'}}\n  delete: {{enabled: true}}\n",
            folder.join("data").display()
        );
        if let Some(file) = &protection.passwords {
            settings += &format!("auth: {{htpasswd: {{realm: skills, path: '{}'}}}}\n", file.display());
        }
        settings += &format!("http:\n  addr: 127.0.0.1:{port}\n  secret: x\n");
        if let Some((certificate, key)) = &protection.tls {
            settings += &format!("  tls: {{certificate: '{}', key: '{}'}}\n", certificate.display(), key.display());
        }
        let file = folder.join("registry.yml");
        std::fs::write(&file, settings).expect("the settings can be written");
        let mut child = Command::new("docker-registry")
            .arg("serve")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the registry can be started");
        wait_until("the registry listens", DEADLINE, || {
            assert!(child.try_wait().expect("it can be asked").is_none(), "the registry ended");
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(Self { child, address: format!("127.0.0.1:{port}") })
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // The test is over either way.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
