//! Builds the fuzz targets with the stable compiler's coverage passes and runs each for a while.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run;

/// What makes the compiler count edges and comparisons, as libFuzzer wants them.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

const TARGETS: [&str; 3] = ["skill", "uasp", "yaml"];

pub(crate) fn fuzz(root: &Path, seconds: &str) -> Result<(), String> {
    let folder = root.join("fuzz");
    // With a target named, the flags reach the targets and not the build scripts, which lack the engine.
    let host = host()?;
    let build = ["build", "--release", "--quiet", "--target", &host];
    run(Command::new("cargo").args(build).env("RUSTFLAGS", FLAGS).current_dir(&folder))?;
    for target in TARGETS {
        let seeds = root.join("target/fuzz").join(target);
        fs::create_dir_all(&seeds).map_err(|error| format!("{}: {error}", seeds.display()))?;
        seed(root, &seeds).map_err(|error| format!("could not lay out seeds: {error}"))?;
        let limits = [
            format!("-max_total_time={seconds}"),
            "-max_len=4096".into(),
            "-timeout=10".into(),
            "-rss_limit_mb=2048".into(),
        ];
        // In CI a change is judged by what it does, not by the dice; at home the dice look further.
        let dice = std::env::var_os("CI").map(|_| "-seed=1");
        let artifacts = format!("-artifact_prefix={}/", root.join("target/fuzz").display());
        run(Command::new(folder.join("target").join(&host).join("release").join(target))
            .args(limits)
            .args(dice)
            .arg(artifacts)
            .arg("-verbosity=0")
            .arg(&seeds))?;
    }
    Ok(())
}

/// The triple this machine compiles for.
fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("could not run rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned).ok_or("rustc names no host".to_owned())
}

/// Puts the examples' main files where the fuzzer starts from.
fn seed(root: &Path, seeds: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join("examples"))? {
        let folder = entry?.path();
        for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if name == "SKILL.md" || name == "tools.json" || name.ends_with(".uasp.yaml") {
                let skill = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                fs::copy(file.path(), seeds.join(format!("{skill}-{name}")))?;
            }
        }
    }
    Ok(())
}
