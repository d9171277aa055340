//! Calls of Python and JavaScript that read and write files.

use std::rc::Rc;

use rep_model::Span;

use crate::behaviour::{BehaviourKind, SignalKind};
use crate::source_calls::{FILE, join_paths, parent};
use crate::source_eval::{Arguments, SourceRun};
use crate::value::{HOLE, SharedValue, Value};

fn is_write_mode(mode: &str) -> bool {
    mode.contains(['w', 'a', 'x', '+'])
}

fn open_file(run: &mut SourceRun<'_, '_>, path: &SharedValue, mode: Option<&SharedValue>, span: Span) -> SharedValue {
    let is_written = mode.and_then(|mode| mode.first_text()).is_some_and(is_write_mode);
    let kind = if is_written { BehaviourKind::Write } else { BehaviourKind::Read };
    run.scanner.path(kind, path, run.place, span);
    let content = if is_written { Value::unknown() } else { run.scanner.file_value(path, run.place, span) };
    let mut file =
        Value { name: Some(Rc::from(FILE)), taints: content.taints.clone(), is_open: true, ..Value::default() };
    file.set_items(Vec::new(), vec![Rc::clone(path)]);
    Rc::new(file)
}

fn read(run: &mut SourceRun<'_, '_>, path: &SharedValue, span: Span) -> SharedValue {
    run.scanner.path(BehaviourKind::Read, path, run.place, span);
    run.scanner.file_value(path, run.place, span)
}

fn write(run: &mut SourceRun<'_, '_>, path: &SharedValue, content: Option<&SharedValue>, span: Span) -> SharedValue {
    run.scanner.path(BehaviourKind::Write, path, run.place, span);
    if let Some(content) = content {
        run.scanner.fill_file(path, content);
    }
    Value::unknown()
}

#[expect(clippy::too_many_lines, reason = "a table of names, which formatting spreads over many lines")]
pub(crate) fn call_files(
    run: &mut SourceRun<'_, '_>,
    name: &str,
    arguments: &Arguments,
    span: Span,
) -> Option<SharedValue> {
    let name = name.replace("fs.promises.", "fs.").replace("promises.", "fs.");
    let first = arguments.get(0, "file").unwrap_or_else(Value::unknown);
    Some(match name.as_str() {
        "open" | "io.open" | "codecs.open" | "gzip.open" | "aiofiles.open" | "bz2.open" | "lzma.open" | "os.fdopen"
            if run.is_python =>
        {
            let mode = arguments.get(1, "mode");
            open_file(run, &first, mode.as_ref(), span)
        }
        "fs.readFileSync"
        | "fs.readFile"
        | "fs.createReadStream"
        | "fs.readdirSync"
        | "fs.readdir"
        | "fs.opendir"
        | "fs.readJsonSync"
        | "fs.readJson"
        | "readFileSync"
        | "readFile"
        | "Deno.readTextFile"
        | "Deno.readTextFileSync"
        | "Deno.readFile"
        | "Deno.readDir"
        | "Bun.file"
        | "os.listdir"
        | "os.scandir"
        | "os.walk"
        | "glob.glob"
        | "glob.iglob"
        | "glob.sync"
        | "glob.globSync"
        | "fast-glob"
        | "fast-glob.sync"
        | "fg.sync"
        | "globby.globby"
        | "globby"
        | "linecache.getlines"
        | "pandas.read_csv"
        | "pandas.read_excel"
        | "pandas.read_json"
        | "pandas.read_parquet"
        | "numpy.load"
        | "numpy.loadtxt"
        | "cv2.imread"
        | "PIL.Image.open"
        | "openpyxl.load_workbook"
        | "docx.Document"
        | "pypdf.PdfReader"
        | "PyPDF2.PdfReader"
        | "pdfplumber.open"
        | "fitz.open"
        | "pptx.Presentation"
        | "configparser.read"
        | "tarfile.open"
        | "wave.open"
        | "librosa.load"
        | "yaml.safe_load_file"
        | "readdirSync"
        | "readdir"
        | "globSync"
        | "fs.globSync" => {
            if matches!(name.as_str(), "docx.Document" | "pptx.Presentation") && arguments.values.is_empty() {
                return Some(Value::unknown());
            }
            let content = read(run, &first, span);
            if name == "Bun.file" { Value::unknown().with_taints(&content.taints) } else { content }
        }
        "zipfile.ZipFile" => {
            let mode = arguments.get(1, "mode");
            open_file(run, &first, mode.as_ref(), span)
        }
        "sqlite3.connect" | "shutil.make_archive" => write(run, &first, None, span),
        "fs.writeFileSync"
        | "fs.writeFile"
        | "fs.appendFileSync"
        | "fs.appendFile"
        | "fs.createWriteStream"
        | "fs.mkdirSync"
        | "fs.mkdir"
        | "fs.chmodSync"
        | "fs.chmod"
        | "fs.outputFile"
        | "fs.outputFileSync"
        | "fs.writeJson"
        | "fs.writeJsonSync"
        | "fs.ensureDir"
        | "fs.ensureDirSync"
        | "fs.utimesSync"
        | "fs.truncateSync"
        | "writeFileSync"
        | "writeFile"
        | "appendFileSync"
        | "mkdirSync"
        | "mkdir"
        | "Deno.writeTextFile"
        | "Deno.writeFile"
        | "Deno.mkdir"
        | "Bun.write"
        | "os.makedirs"
        | "os.mkdir"
        | "os.chmod"
        | "os.utime"
        | "os.mkfifo"
        | "os.truncate"
        | "numpy.save"
        | "numpy.savetxt"
        | "cv2.imwrite"
        | "matplotlib.pyplot.savefig"
        | "plt.savefig"
        | "soundfile.write"
        | "imageio.imwrite" => write(run, &first, arguments.values.get(1), span),
        "os.remove" | "os.unlink" | "os.rmdir" | "os.removedirs" | "shutil.rmtree" | "fs.unlinkSync" | "fs.unlink"
        | "fs.rmSync" | "fs.rm" | "fs.rmdirSync" | "fs.rmdir" | "fs.remove" | "fs.removeSync" | "rimraf"
        | "rimraf.sync" | "Deno.remove" | "rmSync" | "unlinkSync" | "del" => {
            run.scanner.path(BehaviourKind::Delete, &first, run.place, span);
            if let Some(path) = first.constant()
                && let Some(what) = crate::places::destroyed(path)
            {
                run.scanner.signal(SignalKind::Destruction, format!("deletes {what}: `{path}`"), run.place, span);
            }
            Value::unknown()
        }
        "shutil.copy" | "shutil.copy2" | "shutil.copyfile" | "shutil.copytree" | "fs.copyFileSync" | "fs.copyFile"
        | "fs.cpSync" | "fs.cp" | "fs.copy" | "fs.copySync" | "copyFileSync" => {
            let content = read(run, &first, span);
            let target = arguments.get(1, "dst").unwrap_or_else(Value::unknown);
            write(run, &target, Some(&content), span)
        }
        "shutil.move" | "os.rename" | "os.replace" | "fs.renameSync" | "fs.rename" | "fs.move" | "os.renames" => {
            write(run, &first, None, span);
            write(run, &arguments.at(1), None, span)
        }
        "os.symlink" | "os.link" | "fs.symlinkSync" | "fs.symlink" | "fs.linkSync" => {
            write(run, &arguments.at(1), None, span)
        }
        "tempfile.mkdtemp"
        | "tempfile.mkstemp"
        | "tempfile.NamedTemporaryFile"
        | "tempfile.TemporaryDirectory"
        | "tempfile.TemporaryFile"
        | "fs.mkdtempSync"
        | "fs.mkdtemp"
        | "mkdtempSync"
        | "mkdtemp" => {
            run.scanner.record(BehaviourKind::Write, "/tmp/*", run.place, span);
            Value::text("/tmp/\u{fffc}")
        }
        _ => return None,
    })
}

pub(crate) fn file_method(
    run: &mut SourceRun<'_, '_>,
    file: &SharedValue,
    method: &str,
    arguments: &Arguments,
) -> SharedValue {
    if matches!(method, "write" | "writelines" | "writestr") {
        let content = arguments.at(0);
        if let Some(path) = file.items.first() {
            let path = Rc::clone(path);
            run.scanner.fill_file(&path, &content);
        }
        return Value::unknown();
    }
    file.derived()
}

/// Methods that only paths have.
pub(crate) fn path_method(
    run: &mut SourceRun<'_, '_>,
    value: &SharedValue,
    method: &str,
    arguments: &Arguments,
    span: Span,
) -> Option<SharedValue> {
    let first = arguments.at(0);
    Some(match method {
        "read_text" | "read_bytes" | "iterdir" | "rglob" => read(run, value, span),
        "glob" if run.is_python => {
            let pattern = join_paths(run, &[Rc::clone(value), first]);
            read(run, &pattern, span);
            value.derived()
        }
        "write_text" | "write_bytes" => write(run, value, Some(&first), span),
        "mkdir" | "touch" | "symlink_to" | "chmod" if run.is_python => write(run, value, None, span),
        "unlink" | "rmdir" if run.is_python => {
            run.scanner.path(BehaviourKind::Delete, value, run.place, span);
            Value::unknown()
        }
        "open"
            if run.is_python
                && (value.first_text().is_some()
                    || arguments
                        .values
                        .first()
                        .is_none_or(|mode| mode.constant().is_some_and(|mode| mode.len() <= 3))) =>
        {
            let mode = arguments.get(0, "mode");
            open_file(run, value, mode.as_ref(), span)
        }
        "joinpath" => {
            let mut parts = vec![Rc::clone(value)];
            parts.extend(arguments.values.iter().cloned());
            join_paths(run, &parts)
        }
        "with_suffix" | "with_name" | "relative_to" if value.first_text().is_some() => {
            let folder = parent(value, 1);
            if method == "with_name" { join_paths(run, &[folder, first]) } else { value.derived() }
        }
        "save" | "savefig" | "to_csv" | "to_excel" | "to_parquet" | "write_image" | "write_html" | "to_json"
        | "extractall"
            if arguments.values.first().is_some_and(|path| path.items.is_empty() && !path.is_name("sys.stdout")) =>
        {
            write(run, &first, None, span)
        }
        "rename" | "replace"
            if run.is_python
                && arguments.values.len() == 1
                && value.first_text().is_some_and(|text| text.contains('/') || text.contains(HOLE)) =>
        {
            write(run, value, None, span);
            write(run, &first, None, span)
        }
        _ => return None,
    })
}
