//! Prints the structure extracted from SKILL.md files or skill folders, one JSON document a line: `extract PATH…`.
#![expect(clippy::disallowed_methods, reason = "an example reads the files it is given")]
#![expect(clippy::print_stdout, reason = "an example prints what it shows")]

use std::path::{Path, PathBuf};

use rep_convert::extract::extract;
use rep_model::{Skill, SkillTree};

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1).map(PathBuf::from) {
        let file = if path.is_dir() { path.join("SKILL.md") } else { path };
        let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let text = std::fs::read_to_string(&file)?;
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("skill").to_owned();
        let mut names = Vec::new();
        list(&folder, "", &mut names)?;
        let mut files: Vec<(&str, &str)> =
            names.iter().filter(|name| *name != "SKILL.md").map(|name| (name.as_str(), "")).collect();
        files.push(("SKILL.md", &text));
        let (skill, _) = Skill::parse(SkillTree::of(&name, &files));
        println!("{}", extract(&skill).raw());
    }
    Ok(())
}

/// The names of a skill's files, three folders deep at most.
fn list(folder: &Path, lead: &str, names: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{lead}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() && lead.matches('/').count() < 3 {
            list(&entry.path(), &format!("{name}/"), names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}
