"""Builds the homes and projects that real hosts and `rep list --host` read."""
import json
import os
import pathlib
import subprocess

# Every directory that a host of the table reads, so that unexpected reads are detected.
PROJECT = """skills .claude/skills .github/skills .agents/skills .codex/skills .cursor/skills .gemini/skills
.opencode/skills .opencode/skill .goose/skills .copilot/skills .config/agents/skills""".split()
HOME = """skills .claude/skills .github/skills .agents/skills .codex/skills .copilot/skills .cursor/skills .gemini/skills
.config/agents/skills .config/opencode/skills .config/opencode/skill .opencode/skills .opencode/skill
.config/goose/skills .config/amp/skills""".split()


def put(folder, text, file="SKILL.md"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())


def skill(name, description, more=""):
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n\n# About {name}\n\nBody of it.\n"


def copies(base, label, folders):
    """Creates in every directory one unique skill, and one copy of a name that is in all directories."""
    for folder in folders:
        only = f"only-{label}-{folder.replace('.', '').replace('/', '-')}"
        put(base / folder / only, skill(only, f"copy {label} {folder}"))
        put(base / folder / "dup", skill("dup", f"copy {label} {folder}"))


def faulty(root, x):
    """Creates skills with unusual or invalid frontmatter; `x` makes the names of a root unique."""
    texts = {
        "differs": skill(f"{x}-other", "name differs from the folder"),
        "noname": "---\ndescription: no name\n---\n\n# About it\n\nBody\n",
        "emptyname": skill('""', "empty name"),
        "nullname": skill("", "nothing for a name"),
        "numname": skill("123" if x == "a" else "456", "a number for a name"),
        "nodesc": f"---\nname: {x}-nodesc\n---\n\n# About it\n\nFirst paragraph of the body.\n",
        "emptydesc": skill(f"{x}-emptydesc", '""'),
        "nulldesc": skill(f"{x}-nulldesc", ""),
        "numdesc": skill(f"{x}-numdesc", "42"),
        "listdesc": skill(f"{x}-listdesc", "[a, b]"),
        "long": skill(f"{x}-long", "L" * 1024 + "M" * 76),
        "huge": skill(f"{x}-huge", "H" * 2000),
        "broken": skill(f"{x}-broken", "[unclosed"),
        "colon": skill(f"{x}-colon", "Use: when colons matter"),
        "nofront": "# Only a body\n\nText here.\n",
        "unclosed": f"---\nname: {x}-unclosed\ndescription: never closed\n\nBody\n",
        "optout": skill(f"{x}-optout", "opted out", "disable-model-invocation: true\n"),
        "notuser": skill(f"{x}-notuser", "not for people", "user-invocable: false\n"),
        "upper": skill(f"{x}-Upper", "upper case"),
        "spaced": skill(f"{x} space", "space in the name"),
        "hyphens": skill(f"{x}--hyphens", "two hyphens"),
        "longname": skill(f"{x}-{'n' * 70}", "long name"),
        "when": skill(f"{x}-when", "the description", "when_to_use: the when text\n"),
        "multi": f"---\nname: {x}-multi\ndescription: |\n  first line\n  second line\n---\n\nBody\n",
        "crlf": skill(f"{x}-crlf", "carriage returns").replace("\n", "\r\n"),
        "bom": b"\xef\xbb\xbf" + skill(f"{x}-bom", "byte order mark").encode(),
        "quoted": skill(f"{x}-quoted", '"with <b> & quote\\" here"'),
        "twin1": skill(f"{x}-twin", "twin 1"),
        "twin2": skill(f"{x}-twin", "twin 2"),
        "gitignored": skill(f"{x}-gitignored", "ignored by git"),
    }
    for name, text in texts.items():
        put(root / f"{x}-{name}", text)
    put(root / f"{x}-lower", skill(f"{x}-lower", "lower-case file"), "skill.md")


def placed(root, x, store):
    """Creates skills in unusual places of a root: deep, hidden, linked, inside another."""
    for depth in range(2, 10):
        name = f"{x}-deep{depth}"
        put(root.joinpath(f"{x}-group", *["b"] * (depth - 2), name), skill(name, "deep"))
    put(root / f"{x}-outer", skill(f"{x}-outer", "outer"))
    put(root / f"{x}-outer/{x}-inner", skill(f"{x}-inner", "inside a skill"))
    put(root / f".{x}-hidden", skill(f"{x}-hidden", "hidden folder"))
    put(root / f"node_modules/{x}-dep", skill(f"{x}-dep", "dependency"))
    put(root, skill(f"{x}-loose", "loose file"), "loose.md")
    put(store / f"{x}-linked", skill(f"{x}-linked", "linked folder"))
    os.symlink(store / f"{x}-linked", root / f"{x}-linked")
    put(store / "files", skill(f"{x}-linkfile", "linked file"), f"{x}.md")
    (root / f"{x}-linkfile").mkdir()
    os.symlink(store / f"files/{x}.md", root / f"{x}-linkfile/SKILL.md")
    put(store / f"group-{x}/{x}-linkdeep", skill(f"{x}-linkdeep", "below a linked folder"))
    os.symlink(store / f"group-{x}", root / f"{x}-linkgroup")
    os.symlink(root / f"{x}-when", root / f"{x}-alias")


def plugin(config, market):
    """Creates two plugins of Claude Code as it installs them; one of them is disabled."""
    source = {"source": "directory", "path": str(market)}
    at = "2026-01-01T00:00:00.000Z"
    installed, offers = {}, []
    for name in ("tidy", "asleep"):
        folder = config / f"plugins/cache/market/{name}/1.0.0"
        for place in (folder, market / name):
            put(place / "skills/in-plugin", skill("in-plugin", f"of the plugin {name}"))
            put(place / "skills/dup", skill("renamed", f"copy of the plugin {name}"))
            put(place / ".claude-plugin", json.dumps({"name": name, "version": "1.0.0"}), "plugin.json")
        installed[f"{name}@market"] = [{"scope": "user", "installPath": str(folder), "version": "1.0.0",
                                        "installedAt": at, "lastUpdated": at}]
        offers.append({"name": name, "source": f"./{name}", "description": name})
    put(market / ".claude-plugin", json.dumps({"name": "market", "owner": {"name": "us"}, "plugins": offers}),
        "marketplace.json")
    put(config / "plugins", json.dumps({"version": 2, "plugins": installed}), "installed_plugins.json")
    known = {"market": {"source": source, "installLocation": str(market), "lastUpdated": at}}
    put(config / "plugins", json.dumps(known), "known_marketplaces.json")
    settings = {"extraKnownMarketplaces": {"market": {"source": source}},
                "enabledPlugins": {"tidy@market": True, "asleep@market": False}}
    put(config, json.dumps(settings), "settings.json")


def repository(folder):
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


def build(base):
    """Creates everything below `base` and returns the scenarios: name, home, working directory, environment, trust."""
    home, project = base / "home", base / "proj"
    copies(home, "home", HOME)
    copies(base, "outside", PROJECT)
    copies(project, "project", PROJECT)
    copies(project / "apps", "middle", PROJECT)
    copies(project / "apps/web", "web", PROJECT)
    copies(project / "apps/web/src", "below", PROJECT)
    for folder, x in ((".agents/skills", "a"), (".claude/skills", "c")):
        faulty(project / folder, x)
        placed(project / folder, x, base / "store")
    put(home / ".gemini/extensions/pack/skills/in-extension", skill("in-extension", "of an extension"))
    put(home / ".gemini/extensions/pack/skills/dup", skill("dup", "copy of an extension"))
    put(home / ".gemini/extensions/pack", '{"name": "pack", "version": "1.0.0"}', "gemini-extension.json")
    plugin(home / ".claude", base / "market")
    put(home / ".agents/skills/h-group/h-deep2", skill("h-deep2", "deep at home"))
    (project / ".gitignore").write_text(".agents/skills/a-gitignored\n.claude/skills/c-gitignored\n")
    repository(project)

    # A root that is itself a skill, and one that contains a link to itself.
    odd = base / "odd"
    for folder in (".agents/skills", ".claude/skills"):
        x = folder[1]
        put(odd / folder, skill(f"{x}-root", "the root itself"))
        put(odd / folder / f"{x}-beside", skill(f"{x}-beside", "below a root that is a skill"))
    repository(odd)
    loop = base / "loop"
    for folder in (".agents/skills", ".claude/skills"):
        x = folder[1]
        put(loop / folder / f"{x}-plain", skill(f"{x}-plain", "plain"))
        os.symlink(loop / folder, loop / folder / f"{x}-loop")
    repository(loop)

    # Two names of one directory: a host that reads both must not report a collision of a skill with itself.
    same = base / "same"
    put(same / ".agents/skills/shared", skill("shared", "one folder under two names"))
    for other in (".claude", ".github", ".gemini", ".codex", ".opencode"):
        (same / other).mkdir()
        os.symlink("../.agents/skills", same / other / "skills")
    repository(same)

    moved = base / "moved"
    for variable in ("codex", "claude", "gemini", "copilot", "opencode", "xdg"):
        copies(moved / variable, f"moved-{variable}",
               ["skills", "skill", "opencode/skills", ".gemini/skills", ".agents/skills", ".copilot/skills", "agents/skills"])
    environment = {
        "CODEX_HOME": str(moved / "codex"),
        "CLAUDE_CONFIG_DIR": str(moved / "claude"),
        "GEMINI_CLI_HOME": str(moved / "gemini"),
        "COPILOT_HOME": str(moved / "copilot"),
        "OPENCODE_CONFIG_DIR": str(moved / "opencode"),
        "XDG_CONFIG_HOME": str(moved / "xdg"),
    }
    bare = base / "bare"
    copies(bare, "bare", PROJECT)
    copies(bare / "inner", "inner", PROJECT)
    empty = base / "empty"
    return [
        ("root", home, project, {}, True),
        ("web", home, project / "apps/web", {}, True),
        ("moved", home, project, environment, True),
        ("odd", empty, odd, {}, True),
        ("loop", empty, loop, {}, True),
        ("same", empty, same, {}, True),
        ("bare", empty, bare / "inner", {}, True),
        ("untrusted", home, loop, {}, False),
    ]
