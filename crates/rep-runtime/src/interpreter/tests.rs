//! Tests with the interpreters of this machine, and with shims created for the test.

use std::os::unix::fs::PermissionsExt as _;

use rep_test_support::is_program_installed;

use super::*;

fn search(path: &Path) -> InterpreterSearch {
    let env = vec![("PATH".into(), path.into()), ("HOME".into(), std::env::var_os("HOME").unwrap_or_default())];
    InterpreterSearch { env, cache: None }
}

fn here() -> InterpreterSearch {
    InterpreterSearch { env: std::env::vars_os().collect(), cache: None }
}

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn what_is_found_is_a_real_program() {
    for (runtime, program) in
        [(ToolRuntime::Python, "python3"), (ToolRuntime::Node, "node"), (ToolRuntime::Bash, "bash")]
    {
        if !is_program_installed(program) {
            continue;
        }
        let found = find_interpreter(runtime, Path::new("/srv/work"), &here()).unwrap();
        assert!(is_elf_file(&found.program), "{found:?}");
        assert!(found.readable.iter().all(|folder| !folder.starts_with("/usr")), "{found:?}");
    }
}

#[test]
fn a_shim_is_seen_through() {
    if !is_program_installed("python3") {
        return;
    }
    let real = find_interpreter(ToolRuntime::Python, Path::new("/srv/work"), &here()).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let shim = format!("#!/bin/sh\nexec '{}' \"$@\"\n", real.argv0.to_str().unwrap());
    script(scratch.path(), "python3", &shim);
    let found = find_interpreter(ToolRuntime::Python, Path::new("/srv/work"), &search(scratch.path())).unwrap();
    assert_eq!(found.program, real.program);
}

#[test]
fn an_answer_is_kept_until_the_file_changes() {
    let real = find_interpreter(ToolRuntime::Bash, Path::new("/srv/work"), &here()).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let counting = |mark: &str| {
        format!(
            "#!/bin/sh\necho {mark} >> {}/asked\nexec {} \"$@\"\n",
            scratch.path().display(),
            real.program.display()
        )
    };
    script(scratch.path(), "bash", &counting("a"));
    let search =
        InterpreterSearch { cache: Some(scratch.path().join("cache/interpreters.json")), ..search(scratch.path()) };
    let ask = || find_interpreter(ToolRuntime::Bash, Path::new("/srv/work"), &search).unwrap();
    let asked = || fs::read_to_string(scratch.path().join("asked")).unwrap().lines().count();
    assert_eq!(ask(), ask());
    assert_eq!(asked(), 1, "the second answer came from the cache");
    fs::remove_file(scratch.path().join("bash")).unwrap();
    script(scratch.path(), "bash", &counting("another one"));
    ask();
    assert_eq!(asked(), 2, "a changed file is asked again");
    fs::write(scratch.path().join("cache/interpreters.json"), "{ not json").unwrap();
    ask();
    assert_eq!(asked(), 3, "a broken cache is ignored");
}

#[test]
fn a_missing_or_broken_interpreter_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let message = |search: &InterpreterSearch| {
        find_interpreter(ToolRuntime::Node, Path::new("/srv/work"), search).unwrap_err().to_string()
    };
    assert_eq!(message(&search(scratch.path())), "`node` was not found on the PATH");
    assert_eq!(message(&InterpreterSearch::default()), "`node` was not found on the PATH");
    script(scratch.path(), "node", "#!/bin/sh\necho no version is set >&2\nexit 1\n");
    assert!(message(&search(scratch.path())).ends_with("does not run: no version is set"));
    script(scratch.path(), "node", "#!/bin/sh\necho hello\n");
    assert!(message(&search(scratch.path())).ends_with("it does not report its version and location"));
}

#[test]
fn folders_that_hold_more_than_an_interpreter_are_refused() {
    let with = |folder: &str| Interpreter {
        program: PathBuf::from("/x/bin/python3"),
        argv0: "python3".into(),
        readable: vec![PathBuf::from(folder)],
        version: String::new(),
    };
    let search = InterpreterSearch { env: vec![("HOME".into(), "/somewhere/me".into())], cache: None };
    let narrowed = |folder: &str| narrow_readable_folders(with(folder), Path::new("/data/project"), &search);
    for folder in ["/", "/data", "/data/project", "/somewhere/me", "/somewhere", "/somewhere/me/.local"] {
        assert!(narrowed(folder).is_err(), "{folder}");
    }
    assert_eq!(narrowed("/usr/local").unwrap().readable, Vec::<PathBuf>::new());
    assert_eq!(narrowed("/somewhere/me/.pyenv/versions/3").unwrap().readable.len(), 1);
    assert_eq!(narrowed("/data/project/.venv").unwrap().readable.len(), 1);
}

#[test]
fn nothing_in_the_workspace_is_run_to_find_an_interpreter() {
    let scratch = tempfile::tempdir().unwrap();
    let work = fs::canonicalize(scratch.path()).unwrap();
    fs::create_dir_all(work.join("bin")).unwrap();
    fs::create_dir_all(work.join("venv/bin")).unwrap();
    let text = format!("#!/bin/sh\necho > {}/ran\n", work.display());
    for name in ["python3", "node", "bash"] {
        script(&work.join("bin"), name, &text);
    }
    for runtime in [ToolRuntime::Python, ToolRuntime::Node, ToolRuntime::Bash] {
        let error = find_interpreter(runtime, &work, &search(&work.join("bin"))).unwrap_err().to_string();
        assert!(error.contains("is in the workspace"), "{error}");
    }
    // Later entries on the path are found, and so is a program that a link in the workspace points to.
    let behind = std::env::join_paths([work.join("bin"), PathBuf::from("/usr/bin"), PathBuf::from("/bin")]).unwrap();
    let found = find_interpreter(ToolRuntime::Bash, &work, &search(Path::new(&behind))).unwrap();
    assert!(!found.program.starts_with(&work), "{found:?}");
    assert!(!work.join("ran").exists());
    if !is_program_installed("python3") {
        return;
    }
    let real = find_interpreter(ToolRuntime::Python, &work, &here()).unwrap();
    std::os::unix::fs::symlink(&real.program, work.join("venv/bin/python3")).unwrap();
    let home = format!("home = {}\n", real.program.parent().unwrap().display());
    fs::write(work.join("venv/pyvenv.cfg"), home).unwrap();
    let found = find_interpreter(ToolRuntime::Python, &work, &search(&work.join("venv/bin"))).unwrap();
    assert_eq!((&found.program, &found.readable), (&real.program, &real.readable), "its packages are not loaded");
    assert!(!Path::new(&found.argv0).starts_with(&work), "the link target is used under its own name: {found:?}");
    assert!(!work.join("ran").exists());
}

#[test]
fn no_link_in_the_workspace_decides_which_program_is_started() {
    let scratch = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(scratch.path()).unwrap();
    let (work, bin) = (root.join("work"), root.join("home/bin"));
    for folder in [&bin, &work.join("tools"), &root.join("other")] {
        fs::create_dir_all(folder).unwrap();
    }
    let real = script(&root.join("other"), "bash", "#!/bin/sh\n");
    let link = |to: &Path, at: PathBuf| {
        // Links of an earlier case are replaced.
        let _ = fs::remove_file(&at);
        std::os::unix::fs::symlink(to, at).unwrap();
    };
    let found = bin.join("bash");
    // Links outside of the workspace are followed by the kernel when the program starts.
    link(&real, found.clone());
    assert_eq!(resolve_outside_workspace(&found, &work), Some(found.clone()));
    // A link in the workspace, a directory that is one, and a relative one.
    link(&real, work.join("tools/bash"));
    link(&work.join("tools/bash"), found.clone());
    assert_eq!(resolve_outside_workspace(&found, &work), Some(real.clone()));
    link(&root.join("other"), work.join("tools/folder"));
    link(&work.join("tools/folder/bash"), found.clone());
    assert_eq!(resolve_outside_workspace(&found, &work), Some(real.clone()));
    link(Path::new("../../work/tools/../../other/bash"), found.clone());
    assert_eq!(resolve_outside_workspace(&found, &work), Some(real.clone()));
    // The same workspace by another name.
    link(&work, root.join("alias"));
    link(&root.join("alias/tools/bash"), found.clone());
    assert_eq!(resolve_outside_workspace(&found, &work), Some(real));
    let own = script(&work.join("tools"), "mine", "#!/bin/sh\n");
    link(&own, found.clone());
    assert_eq!(resolve_outside_workspace(&found, &work), None);
    link(&found, found.clone());
    assert_eq!(resolve_outside_workspace(&found, &work), None, "a link to itself leads nowhere");
}

#[test]
fn a_shim_finds_no_program_in_the_workspace() {
    let scratch = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(scratch.path()).unwrap();
    let (work, shims) = (root.join("work"), root.join("shims"));
    for folder in [work.join("bin"), shims.clone()] {
        fs::create_dir_all(folder).unwrap();
    }
    let real = find_interpreter(ToolRuntime::Bash, &work, &here()).unwrap();
    script(&work.join("bin"), "choose", &format!("#!/bin/sh\necho > {}/ran\nexec \"$@\"\n", root.display()));
    script(&shims, "choose", "#!/bin/sh\nexec \"$@\"\n");
    script(&shims, "bash", &format!("#!/bin/sh\nexec choose {} \"$@\"\n", real.program.display()));
    std::os::unix::fs::symlink(work.join("bin"), root.join("link")).unwrap();
    let path = std::env::join_paths([root.join("link"), work.join("bin"), shims, "/usr/bin".into(), "/bin".into()]);
    let found = find_interpreter(ToolRuntime::Bash, &work, &search(Path::new(&path.unwrap()))).unwrap();
    assert_eq!(found.program, real.program);
    assert!(!root.join("ran").exists(), "a program of the workspace ran");
}
