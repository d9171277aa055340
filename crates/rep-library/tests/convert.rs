//! Converting skills on a real file system: files are made once, kept apart by name, and never overwrite what somebody wrote.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::disallowed_methods, reason = "the test edits and deletes the files it made itself")]

use std::fs;
use std::path::PathBuf;

use rep_library::convert::{
    BatchFile, ConversionBatch, ConversionTarget, ConvertError, FileState, OutOfStepAction, check_files,
};
use rep_library::discovery::{self, SkillLocation};
use rep_storage::atomic::OnExistingFile;
use rep_test_support::ScratchFolder;

fn skill(name: &str, rule: &str) -> String {
    format!("---\nname: {name}\ndescription: Writes letters.\n---\n## Rules\n\n- Never {rule} in a letter.\n")
}

fn found(scratch: &ScratchFolder) -> Vec<SkillLocation> {
    let mut found = Vec::new();
    discovery::find_skills(&scratch.work_folder().join("skills"), |one| found.push(one)).unwrap();
    discovery::sort_and_dedup(&mut found);
    found
}

fn convert(
    found: &[SkillLocation],
    target: &ConversionTarget,
    existing: OnExistingFile,
) -> Vec<Result<BatchFile, ConvertError>> {
    let items = ConversionBatch::new(found, target, existing).convert_all(&|| false, &|_| {});
    items.into_iter().map(|item| item.unwrap().and_then(|item| item.file)).collect()
}

fn states(found: &[SkillLocation], target: &ConversionTarget, out_of_step: OutOfStepAction) -> Vec<FileState> {
    check_files(found, target, out_of_step, &|_| {}).into_iter().map(|file| file.unwrap().state).collect()
}

#[test]
fn files_are_made_once_and_skills_of_one_name_are_kept_apart() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/a/letters/SKILL.md", skill("letters", "shout"));
    scratch.write_file("skills/b/letters/SKILL.md", skill("letters", "whisper"));
    let (found, target) = (found(&scratch), ConversionTarget::Folder(scratch.work_folder().join("out")));
    let files = convert(&found, &target, OnExistingFile::Keep);
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|file| match file {
            Ok(BatchFile::Written(path)) => path.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(paths[0] != paths[1] && paths.iter().all(|path| path.is_file()), "{paths:?}");
    let again = convert(&found, &target, OnExistingFile::Keep);
    assert!(again.iter().all(|file| matches!(file, Ok(BatchFile::InStep(_)))), "{again:?}");
    assert_eq!(states(&found, &target, OutOfStepAction::Report), [FileState::InStep, FileState::InStep]);
}

#[test]
fn what_was_edited_is_kept_and_what_is_out_of_step_can_be_accepted() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/letters/SKILL.md", skill("letters", "shout"));
    let (found, target) = (found(&scratch), ConversionTarget::Beside);
    assert_eq!(states(&found, &target, OutOfStepAction::Report), [FileState::Missing]);
    let [Ok(BatchFile::Written(path))] = &convert(&found, &target, OnExistingFile::Keep)[..] else {
        panic!("not written")
    };
    let edited = fs::read_to_string(path).unwrap().replace("shout", "shout at anybody");
    fs::write(path, &edited).unwrap();
    assert_eq!(states(&found, &target, OutOfStepAction::Report), [FileState::Edited]);
    scratch.write_file("skills/letters/SKILL.md", skill("letters", "whisper"));
    let kept = convert(&found, &target, OnExistingFile::Keep);
    assert!(matches!(&kept[..], [Err(ConvertError::Edited(_))]), "{kept:?}");
    assert!(matches!(&states(&found, &target, OutOfStepAction::Report)[..], [FileState::OutOfStep(_)]));
    assert_eq!(states(&found, &target, OutOfStepAction::Accept), [FileState::Accepted]);
    assert_eq!(states(&found, &target, OutOfStepAction::Report), [FileState::InStep]);
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("shout at anybody"), "only the stamp changed: {text}");
    assert!(matches!(&convert(&found, &target, OnExistingFile::Replace)[..], [Ok(BatchFile::Written(_))]));
    assert!(fs::read_to_string(path).unwrap().contains("whisper"));
}
