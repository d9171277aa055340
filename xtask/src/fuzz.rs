//! Builds the fuzz targets with the stable compiler's coverage passes, and runs each for a given time.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run_command;

/// The compiler flags for the coverage counters that libFuzzer needs.
const COVERAGE_FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

/// The targets whose seeds are the examples.
const SKILL_TARGETS: [&str; 5] = ["lsp", "scan", "skill", "uasp", "yaml"];
/// The targets whose seeds are in `fuzz/seeds/TARGET`, which `fuzz/make-seeds.py` writes.
const SEEDED_TARGETS: [&str; 15] = [
    "audit",
    "credentials",
    "dns",
    "glob",
    "hello",
    "index",
    "lock",
    "message",
    "oci",
    "search",
    "settings",
    "signature",
    "source",
    "tar",
    "zip",
];

/// Runs all targets, or the named one, for `seconds` each.
pub(crate) fn run_fuzz_targets(root: &Path, seconds: &str, only: Option<&str>) -> Result<(), String> {
    let folder = root.join("fuzz");
    let mut targets: Vec<&str> = SKILL_TARGETS.into_iter().chain(SEEDED_TARGETS).collect();
    if let Some(only) = only {
        targets.retain(|target| *target == only);
    }
    if targets.is_empty() {
        return Err(format!("unknown fuzz target; the targets are {SKILL_TARGETS:?} and {SEEDED_TARGETS:?}"));
    }
    // With an explicit target, the flags do not apply to build scripts, which lack the fuzzing engine.
    let host = find_host_triple()?;
    let build = ["build", "--release", "--quiet", "--target", &host];
    run_command(Command::new("cargo").args(build).env("RUSTFLAGS", COVERAGE_FLAGS).current_dir(&folder))?;
    for target in targets {
        let corpus = root.join("target/fuzz").join(target);
        copy_seeds(root, target, &corpus).map_err(|error| format!("could not copy the seeds of {target}: {error}"))?;
        let limits = [
            format!("-max_total_time={seconds}"),
            "-max_len=4096".into(),
            "-timeout=10".into(),
            "-rss_limit_mb=2048".into(),
        ];
        // In CI, a fixed seed makes results reproducible; locally, a random seed explores further.
        let dice = std::env::var_os("CI").map(|_| "-seed=1");
        let artifacts = format!("-artifact_prefix={}/{target}-", root.join("target/fuzz").display());
        run_command(
            Command::new(folder.join("target").join(&host).join("release").join(target))
                .args(limits)
                .args(dice)
                .arg(artifacts)
                .arg("-verbosity=0")
                .arg(&corpus),
        )?;
    }
    Ok(())
}

/// Returns the target triple of this machine.
fn find_host_triple() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("could not run rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or("rustc reports no host".to_owned())
}

/// Copies the seeds of a target to its corpus.
fn copy_seeds(root: &Path, target: &str, corpus: &Path) -> std::io::Result<()> {
    fs::create_dir_all(corpus)?;
    if SKILL_TARGETS.contains(&target) {
        return copy_examples(root, corpus);
    }
    for entry in fs::read_dir(root.join("fuzz/seeds").join(target))? {
        let seed = entry?;
        fs::copy(seed.path(), corpus.join(seed.file_name()))?;
    }
    Ok(())
}

/// Copies the main files of the examples.
fn copy_examples(root: &Path, corpus: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join("examples"))? {
        let folder = entry?.path();
        for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if name == "SKILL.md" || name == "tools.json" || name.ends_with(".uasp.yaml") {
                let skill = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                fs::copy(file.path(), corpus.join(format!("{skill}-{name}")))?;
            }
        }
    }
    Ok(())
}
