//! The files that install a release: the script, the unit of systemd and the formula are run or checked with real programs.
#![expect(clippy::unwrap_used, reason = "all of this is a test, its helpers too")]

use std::path::PathBuf;
use std::process::Command;

use rep_test_support::{ScratchFolder, TestResponse, TestServer, report_skipped};
use sha2::{Digest, Sha256};

use super::rep;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Makes an archive as `release/build.sh` does, with the program of these tests.
fn pack_archive(scratch: &ScratchFolder, name: &str) -> Vec<u8> {
    let work = scratch.work_folder();
    std::fs::create_dir_all(work.join(name)).unwrap();
    std::fs::copy(rep(), work.join(name).join("rep")).unwrap();
    let packed = Command::new("tar").args(["-czf", "archive.tar.gz", name]).current_dir(&work).status().unwrap();
    assert!(packed.success());
    std::fs::read(work.join("archive.tar.gz")).unwrap()
}

/// Whether a program starts. Those of this file are not part of what CI installs.
fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

fn install(scratch: &ScratchFolder, release: &str) -> std::process::Output {
    Command::new("sh")
        .arg(root().join("release/install.sh"))
        .env("REP_RELEASE", release)
        .env("REP_INSTALL_DIR", scratch.work_folder().join("bin"))
        .env("HOME", scratch.work_folder())
        .output()
        .unwrap()
}

#[test]
fn the_installer_installs_what_has_the_right_digest_and_nothing_else() {
    let scratch = ScratchFolder::new();
    let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let name = format!("rep-{}-{}-unknown-linux-{libc}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let archive = pack_archive(&scratch, &name);
    let digest: String = Sha256::digest(&archive).iter().map(|byte| format!("{byte:02x}")).collect();
    for (listed, is_good) in [(digest.clone(), true), ("0".repeat(64), false)] {
        let (archive, sums) = (archive.clone(), format!("{listed}  {name}.tar.gz\n"));
        let server = TestServer::start(move |request, _| {
            let body = if request.line.contains("/SHA256SUMS") { sums.as_bytes() } else { &archive };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            TestResponse::Bytes([head.as_bytes(), body].concat())
        });
        let done = install(&scratch, &server.url());
        let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        assert_eq!(done.status.success(), is_good, "{said}");
        let program = scratch.work_folder().join("bin/rep");
        if is_good {
            assert!(said.contains(concat!("installed rep ", env!("CARGO_PKG_VERSION"))), "{said}");
            let version = Command::new(&program).arg("--version").output().unwrap();
            assert_eq!(String::from_utf8_lossy(&version.stdout), concat!("rep ", env!("CARGO_PKG_VERSION"), "\n"));
            std::fs::remove_file(program).unwrap();
        } else {
            assert!(said.contains("the digest of") && said.contains("nothing was installed"), "{said}");
            assert!(!program.exists());
        }
    }
    let refused = install(&scratch, "http://example.org/release");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("must start with https://"));
}

#[test]
fn the_formula_names_the_archives_and_their_digests() {
    let scratch = ScratchFolder::new();
    let (one, other) = ("1".repeat(64), "2".repeat(64));
    let sums = format!(
        "{one}  rep-1.2.3-x86_64-unknown-linux-gnu.tar.gz\n{other}  rep-1.2.3-aarch64-unknown-linux-gnu.tar.gz\n"
    );
    scratch.write_file("dist/SHA256SUMS", sums);
    let done = Command::new(root().join("release/formula.sh"))
        .arg(scratch.work_folder().join("dist"))
        .arg("https://example.org/v1.2.3")
        .output()
        .unwrap();
    let formula = String::from_utf8(done.stdout).unwrap();
    for part in [
        "version \"1.2.3\"\n",
        "url \"https://example.org/v1.2.3/rep-1.2.3-x86_64-unknown-linux-gnu.tar.gz\"",
        "url \"https://example.org/v1.2.3/rep-1.2.3-aarch64-unknown-linux-gnu.tar.gz\"",
        &format!("sha256 \"{one}\""),
        &format!("sha256 \"{other}\""),
    ] {
        assert!(formula.contains(part), "{part} is missing in\n{formula}");
    }
    if !is_there("ruby") {
        report_skipped("ruby is not installed, so the syntax of the formula was not checked");
        return;
    }
    scratch.write_file("repertoire.rb", formula);
    let checked =
        Command::new("ruby").args(["-c", "repertoire.rb"]).current_dir(scratch.work_folder()).status().unwrap();
    assert!(checked.success());
}

#[test]
fn the_unit_is_one_that_systemd_accepts() {
    if !is_there("systemd-analyze") {
        report_skipped("systemd-analyze is not installed, so the unit was not verified");
        return;
    }
    let scratch = ScratchFolder::new();
    let unit = std::fs::read_to_string(root().join("release/rep.service")).unwrap();
    let unit = unit.replace("/usr/local/bin/rep", rep().to_str().unwrap()).replace("User=rep", "User=root");
    scratch.write_file("rep.service", unit);
    let done = Command::new("systemd-analyze")
        .args(["verify", "--man=no", "./rep.service"])
        .current_dir(scratch.work_folder())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && !said.contains("rep.service:"), "{said}");
}
