use std::cell::RefCell;
use std::path::Path;

use super::{
    EnvironmentInstallSpec, EnvironmentLocation, InstallError, PackageIndexSource, check_package_names,
    install_environment, prepare_installation,
};
use crate::interpreter::Interpreter;
use crate::plan::ToolRuntime;
use rep_sandbox::{Cancel, ProcessExit, SandboxJob, SandboxOutcome};

fn python() -> Interpreter {
    let program = "/usr/bin/true".into();
    Interpreter { program, argv0: "/usr/bin/python3".into(), readable: Vec::new(), version: "3.12.1".to_owned() }
}

fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn a_package_is_a_name_with_versions() {
    let good: [(ToolRuntime, &[&str]); 2] = [
        (
            ToolRuntime::Python,
            &["requests", "a-b.c_d", "x[y,z]", "x==1.0", "x>=1,<2", "x[y]~=1.4", "x===1.0+local", "x!=1.*"],
        ),
        (
            ToolRuntime::Node,
            &["left-pad", "@a/b", "a@1.2.3", "@a/b@^1.2", "a@latest", "a@>=1", "a@1.x||2.x", "lodash.get"],
        ),
    ];
    for (runtime, packages) in good {
        for package in packages {
            assert_eq!(check_package_names(runtime, &owned(&[package])), Ok(()), "{package}");
        }
    }
    let bad = [
        "",
        "-r",
        "--index-url=https://x",
        "-e.",
        "x --pre",
        "x\n--pre",
        "x\t",
        " x",
        "https://a.example/x.whl",
        "git+https://a.example/x",
        "x@https://a.example/x",
        "./x",
        "x@.",
        "x@..",
        "../x",
        "/x",
        "~/x",
        ".",
        "x.whl",
        "X.TAR.GZ",
        "x.tgz",
        "file:x",
        "a/b",
        "a/b/c",
        "@a",
        "@/a",
        "x;python_version>'3'",
        "x=1 2",
        "x[",
        "x[-r]",
        "x\0",
        "x$(id)",
        "`id`",
        "ñ",
        "x\\y",
        "x==",
        "a@",
        "npm:b",
        "a@npm:b",
        "a@file:b",
        "a@b/c",
        "x,y",
        "%2e%2e",
    ];
    for runtime in [ToolRuntime::Python, ToolRuntime::Node] {
        for package in bad {
            // Each registry has some syntax that the other does not have.
            assert!(check_package_names(runtime, &owned(&[package])).is_err(), "{runtime:?} {package:?}");
        }
        assert!(check_package_names(runtime, &vec!["x".to_owned(); 65]).is_err(), "too many");
        assert!(check_package_names(runtime, &owned(&[&"x".repeat(201)])).is_err(), "too long");
    }
    assert!(check_package_names(ToolRuntime::Bash, &owned(&["x"])).is_err());
}

#[test]
fn another_skill_list_or_interpreter_is_another_place() {
    let root = Path::new("/environments");
    let packages = owned(&["x==1"]);
    let place = |skill: &str, runtime, packages: &[String], python: &Interpreter| {
        EnvironmentLocation::for_packages(root, skill, runtime, packages, python).folder
    };
    let one = place("a", ToolRuntime::Python, &packages, &python());
    assert_eq!(one, place("a", ToolRuntime::Python, &packages, &python()));
    let newer = Interpreter { version: "3.13.0".to_owned(), ..python() };
    let other = Interpreter { program: "/usr/bin/false".into(), ..python() };
    for changed in [
        place("b", ToolRuntime::Python, &packages, &python()),
        place("a", ToolRuntime::Node, &packages, &python()),
        place("a", ToolRuntime::Python, &owned(&["x==2"]), &python()),
        place("a", ToolRuntime::Python, &owned(&["x==1", "y"]), &python()),
        place("a", ToolRuntime::Python, &packages, &newer),
        place("a", ToolRuntime::Python, &packages, &other),
    ] {
        assert_ne!(one, changed);
    }
}

fn ended(code: i32) -> SandboxOutcome {
    SandboxOutcome {
        exit: ProcessExit::Code(code),
        kill_reason: None,
        stdout: Vec::new(),
        stderr: b"no such package\n".to_vec(),
        is_truncated: false,
        denials: Vec::new(),
        denials_omitted: 0,
        layers: Vec::new(),
        written: Vec::new(),
        conflicts: Vec::new(),
        notes: Vec::new(),
        duration_ms: 1,
    }
}

#[test]
fn an_environment_is_whole_or_not_there_and_is_made_once() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("environments");
    let packages = owned(&["x==1"]);
    let order = EnvironmentInstallSpec {
        root: &root,
        skill: "a",
        runtime: ToolRuntime::Python,
        packages: &packages,
        may_build: false,
    };
    let source = PackageIndexSource {
        indexes: owned(&["https://user:hidden@a.example/simple"]),
        ..PackageIndexSource::default()
    };
    let prepared = prepare_installation(order, python(), source).unwrap();
    let is_empty = || std::fs::read_dir(&root).unwrap().all(|entry| entry.unwrap().path().is_file());
    // The second command fails: the files of the first one are removed.
    let count = RefCell::new(0);
    let seen = RefCell::new(Vec::new());
    let run = |job: SandboxJob, _: &Cancel| {
        std::fs::create_dir_all(job.workspace.join("env/bin")).unwrap();
        *count.borrow_mut() += 1;
        let code = i32::from(*count.borrow() == 2);
        seen.borrow_mut().push(job);
        Ok(ended(code))
    };
    let failed = install_environment(&prepared, &Cancel::default(), run).unwrap_err();
    assert!(matches!(&failed, InstallError::Failed { said, .. } if said == "no such package"), "{failed}");
    assert!(is_empty() && prepared.find_installed().is_none());
    // A directory left by a crash is not treated as an environment.
    std::fs::create_dir_all(prepared.location.env_folder()).unwrap();
    assert!(prepared.find_installed().is_none());
    let made = install_environment(&prepared, &Cancel::default(), run).unwrap();
    assert_eq!(prepared.find_installed(), Some(made.clone()));
    assert_eq!(install_environment(&prepared, &Cancel::default(), run).unwrap(), made, "what is there is used");
    let jobs = seen.borrow();
    assert_eq!(jobs.len(), 4, "twice two commands, and none the third time");
    let (make, fetch) = (&jobs[2], &jobs[3]);
    assert!(make.permissions.outbound.is_empty() && make.permissions.allow_subprocess);
    assert!(!fetch.permissions.allow_subprocess);
    for job in [make, fetch] {
        assert!(job.permissions.write.iter().all(|glob| glob.as_str() == "env/**"));
        assert!(job.permissions.read.is_empty());
        assert!(!job.argv.iter().any(|word| word.to_string_lossy().contains("hidden")), "passwords stay off the line");
    }
    let line: Vec<_> = fetch.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    assert!(line.windows(2).any(|pair| pair == ["--only-binary", ":all:"]));
    assert_eq!(line[line.len() - 2..], ["--", "x==1"]);
}

#[test]
fn npm_runs_no_scripts_of_packages() {
    let packages = owned(&["@a/b@^1"]);
    let root = Path::new("/environments");
    let order =
        EnvironmentInstallSpec { root, skill: "a", runtime: ToolRuntime::Node, packages: &packages, may_build: true };
    assert!(
        prepare_installation(order, python(), PackageIndexSource::default()).is_err(),
        "without npm there is nothing to run"
    );
    let source =
        PackageIndexSource { npm: Some("/usr/lib/npm/bin/npm-cli.js".into()), ..PackageIndexSource::default() };
    let prepared = prepare_installation(order, python(), source).unwrap();
    let job = prepared.build_job(&prepared.steps[0]);
    assert!(job.argv.iter().any(|word| word == "--ignore-scripts"));
    assert!(!job.permissions.allow_subprocess && prepared.steps.len() == 1);
}
