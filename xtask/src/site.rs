//! Builds the documentation site with mdBook, from the repository's documents and the code. Uses no network.
//!
//! `docs/SUMMARY.md` is the table of contents; comments such as `<!-- rules -->` in it are replaced by generated
//! pages. Pages are collected below `target/site-source`, with links between files turned into links between pages,
//! and built into `target/site`. A dead link fails the build.

mod dead_links;
mod pages;
mod rewrite;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{run_command, tools};
use pages::SitePage;

/// The collected pages.
const SOURCE: &str = "target/site-source";

/// The site.
const SITE: &str = "target/site";

/// Builds the site and checks its links.
pub(crate) fn build_site(root: &Path) -> Result<(), String> {
    let mdbook = tools::find_mdbook(root)?;
    let source = root.join(SOURCE);
    let site = root.join(SITE);
    for folder in [&source, &site] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
    }
    let pages = pages::collect_pages(root)?;
    write_sources(root, &source, &pages)?;
    run_command(Command::new(mdbook).arg("build").arg(&source).arg("--dest-dir").arg(&site))?;
    let report = dead_links::check_links(&site)?;
    println!("wrote {} pages to {SITE}, {} links checked", report.pages, report.links);
    Ok(())
}

fn write_sources(root: &Path, source: &Path, pages: &[SitePage]) -> Result<(), String> {
    let addresses: BTreeMap<&str, &str> =
        pages.iter().filter_map(|page| Some((page.origin.as_deref()?, page.path.as_str()))).collect();
    let mut faults = Vec::new();
    for page in pages {
        let text = match &page.origin {
            Some(origin) => rewrite::rewrite_links(&page.text, origin, &page.path, &addresses).unwrap_or_else(|dead| {
                faults.extend(dead);
                String::new()
            }),
            None => page.text.clone(),
        };
        write_file(&source.join("src").join(&page.path), text.as_bytes())?;
    }
    for asset in pages::find_assets(root)? {
        let bytes = fs::read(root.join("docs").join(&asset)).map_err(|error| format!("docs/{asset}: {error}"))?;
        write_file(&source.join("src").join(&asset), &bytes)?;
    }
    let summary = pages::render_summary(root, pages)?;
    write_file(&source.join("src/SUMMARY.md"), summary.as_bytes())?;
    let settings = fs::read(root.join("docs/book.toml")).map_err(|error| format!("docs/book.toml: {error}"))?;
    write_file(&source.join("book.toml"), &settings)?;
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Whether the name of a file has an extension.
fn has_extension(file: &str, extension: &str) -> bool {
    Path::new(file).extension().is_some_and(|found| found == extension)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = path.parent().expect("a file of the site has a parent directory");
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes));
    written.map_err(|error| format!("{}: {error}", path.display()))
}
