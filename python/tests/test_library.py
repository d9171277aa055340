"""The library and its asynchronous twin, over the real program."""

from __future__ import annotations

import asyncio
import doctest
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import repertoire_skills
from repertoire_skills import (
    AsyncLibrary,
    Caller,
    ConfirmationRequired,
    Declined,
    EngineError,
    Findings,
    InvalidArgument,
    InvalidSkill,
    Library,
    NotFound,
    Refused,
)
from repertoire_skills import types
from support import REPOSITORY, ScratchCase


def child_of(library: Library) -> subprocess.Popen[bytes]:
    connection = library._engine._connection  # pyright: ignore[reportPrivateUsage]
    assert connection is not None
    return connection.process


class LibraryTest(ScratchCase):
    def test_skills_are_listed_read_searched_and_asked(self) -> None:
        with Library([self.skills]) as library:
            self.assertEqual([skill.name for skill in library.skills()], ["pdf"])
            statuses = {skill.name: skill.status for skill in library.skills(status=None)}
            self.assertEqual(statuses, {"broken": "invalid", "pdf": "active", "secret": "hidden"})
            self.assertIn("1. Fill the form.", library.read("pdf"))
            self.assertEqual(library.read("pdf", "references/forms.md"), "Fields have names.\n")
            self.assertEqual(library.read_bytes("pdf", "references/forms.md"), b"Fields have names.\n")
            self.assertEqual([hit.name for hit in library.search("fill in a form")], ["pdf"])
            self.assertEqual(library.search("quantum chromodynamics"), ())
            self.assertEqual(library.select("use pdf to fill it")[0].name, "pdf")
            self.assertEqual(library.query("pdf:meta.name").value, "pdf")
            self.assertEqual(library.prompt().skills, ("pdf",))
            self.assertLessEqual(library.prompt(budget=200, style="markdown", locations=False).tokens or 0, 200)
            self.assertEqual(library.show("pdf").files[0].path, "SKILL.md")
            self.assertEqual(library.tools("pdf").source, "none")
            self.assertEqual(library.ask("pdf", "how", "fill").skill, "pdf")
            self.assertEqual(library.check().summary.skills, 3)
            scanned = {skill.name: skill for skill in library.scan().skills}
            self.assertEqual(sorted(scanned), ["broken", "pdf", "secret"])
            self.assertEqual(scanned["pdf"].capabilities.read, ("/etc/hostname",))
            self.assertEqual(len(library.scan([self.skills / "pdf"]).skills), 1)
            self.assertIn("list", library.hello().methods)

    def test_each_failure_has_its_class(self) -> None:
        with Library([self.skills]) as library:
            with self.assertRaises(NotFound) as missing:
                library.read("pdff")
            self.assertEqual((missing.exception.code, missing.exception.exit), ("SKILL_NOT_FOUND", 2))
            self.assertEqual(missing.exception.remedy, "did you mean `pdf`?")
            with self.assertRaises(InvalidSkill):
                library.read("broken")
            with self.assertRaises(Refused):
                library.read("pdf", "../secret/SKILL.md")
            with self.assertRaises(NotFound):
                library.query("pdf:nothing")
            with self.assertRaises(Findings):
                library.prompt(budget=1)
            with self.assertRaises(InvalidArgument):
                library.check(profiles=["no-such-profile"])
            again = pickle.loads(pickle.dumps(missing.exception))
            self.assertEqual((type(again), again.code), (NotFound, "SKILL_NOT_FOUND"))
        with self.assertRaises(EngineError):
            library.skills()

    def test_a_script_runs_confined_and_its_caller_is_on_record(self) -> None:
        caller = Caller("test-framework 1.0", agent="writer", call="call_1")
        with Library([self.skills], caller=caller) as library:
            result = library.run_script("pdf", "scripts/env.sh", ["a b", "$(id)"])
            self.assertEqual((result.stdout, result.returncode), ("a b|$(id)|", 5))
            self.assertEqual(result.denied[0].action, "read")
            run = library.audit(skill="pdf").runs[0]
            self.assertIsInstance(run, types.AuditedRun)
            self.assertTrue(run.who.endswith(" for test-framework 1.0 (agent writer, call call_1)"), run.who)

    def test_approval_is_confirmation(self) -> None:
        self.write_careful()
        with Library([self.skills]) as library:
            with self.assertRaises(ConfirmationRequired):
                library.run("careful", "greet", {"who": "Ada"})
            asked: list[types.Confirmation] = []

            def agree(question: types.Confirmation) -> bool:
                asked.append(question)
                return True

            answer = library.run("careful", "greet", {"who": "Ada"}, approve=agree)
            self.assertEqual(answer.result, {"text": "hello"})
            self.assertIn("Greet somebody?", asked[0].text)
            with self.assertRaises(Declined):
                library.run("careful", "greet", {"who": "Ada"}, approve=lambda _: False)

            def break_down(_: types.Confirmation) -> bool:
                raise ValueError("a bug of the caller is a no")

            threading.excepthook, kept = lambda _: None, threading.excepthook
            with self.assertRaises(Declined):
                library.run("careful", "greet", {"who": "Ada"}, approve=break_down)
            threading.excepthook = kept
            self.assertEqual(library.run("careful", "greet", {"who": "Ada"}, approve=True).exit, 0)
            with self.assertRaises(InvalidArgument):
                library.run("careful", "greet", {}, approve=True)

    def test_changes_are_watched(self) -> None:
        with Library([self.skills]) as library:
            changes = library.watch(timeout=60)
            self.write("csv/SKILL.md", "---\nname: csv\ndescription: Reads tables. Use when a table is given.\n---\nGo.\n")
            for change in changes:
                if change.skills is not None and change.skills["active"] == 2:
                    break
            self.assertEqual(library.reload().skills["active"], 2)

    def test_threads_share_one_child(self) -> None:
        with Library([self.skills]) as library:
            child = library.hello() and child_of(library)
            with ThreadPoolExecutor(16) as pool:
                texts = list(pool.map(lambda _: library.read("pdf"), range(64)))
            self.assertEqual(len(set(texts)), 1)
            self.assertIs(child_of(library), child)

    def test_a_fork_gets_a_child_of_its_own(self) -> None:
        with Library([self.skills]) as library:
            library.hello()
            before = child_of(library).pid
            forked = os.fork()
            if forked == 0:
                code = 1
                try:
                    is_fine = library.read("pdf") != "" and child_of(library).pid != before
                    library.close()
                    code = 0 if is_fine else 2
                finally:
                    os._exit(code)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]), 0)
            self.assertEqual([skill.name for skill in library.skills()], ["pdf"])
            self.assertEqual(child_of(library).pid, before)

    def test_a_child_that_crashes_fails_its_call_and_is_started_again(self) -> None:
        self.write("pdf/scripts/wait.sh", "while :; do read -t 1 || true; done < /dev/zero\n")
        with Library([self.skills]) as library:
            library.hello()
            child = child_of(library)
            future, _ = library._engine.submit(  # pyright: ignore[reportPrivateUsage]
                "run_script", {"skill": "pdf", "script": "scripts/wait.sh"}
            )
            child.send_signal(signal.SIGKILL)
            with self.assertRaises(EngineError) as ended:
                future.result()
            self.assertEqual(ended.exception.code, "ENGINE_ENDED")
            self.assertEqual([skill.name for skill in library.skills()], ["pdf"])
            self.assertEqual(child.returncode, -signal.SIGKILL, "the child was waited for")

    def test_a_program_that_cannot_answer_is_not_started_for_ever(self) -> None:
        os.environ["REP_BINARY"] = "/bin/false"
        with Library([self.skills]) as library:
            for _ in range(3):
                with self.assertRaises(EngineError):
                    library.hello()
            with self.assertRaises(EngineError) as again:
                library.hello()
            self.assertEqual(again.exception.message, "the engine ended again and again")
        os.environ["REP_BINARY"] = "/nowhere/rep"
        with self.assertRaises(EngineError):
            Library([self.skills]).hello()

    def test_garbage_collection_ends_the_child(self) -> None:
        library = Library([self.skills])
        library.hello()
        child = child_of(library)
        del library
        gc.collect()
        self.assertIsNotNone(child.returncode)

    def test_the_interpreter_ends_and_leaves_no_process(self) -> None:
        program = (
            "from repertoire_skills import Library\n"
            f"library = Library([{str(self.skills)!r}]); library.hello()\n"
            "print(library._engine._connection.process.pid)\n"
        )
        path = str(REPOSITORY / "python/src")
        environment = {**os.environ, "PYTHONPATH": path, "REP_BINARY": repertoire_skills.find_rep()}
        ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        self.assertFalse(os.path.exists(f"/proc/{ended.stdout.strip()}"), ended)


class AsyncLibraryTest(ScratchCase):
    def test_tasks_share_one_child_and_cancel_their_calls(self) -> None:
        self.write_careful()
        self.write("pdf/scripts/wait.sh", "while :; do read -t 1 || true; done < /dev/zero\n")

        async def work() -> None:
            async with AsyncLibrary([self.skills]) as library:
                reads = await asyncio.gather(*(library.read("pdf") for _ in range(32)))
                self.assertEqual(len(set(reads)), 1)
                with self.assertRaises(NotFound):
                    await library.read("pdff")

                async def agree(question: types.Confirmation) -> bool:
                    return "Greet somebody?" in question.text

                answer = await library.run("careful", "greet", {"who": "Ada"}, approve=agree)
                self.assertEqual(answer.result, {"text": "hello"})
                run = asyncio.create_task(library.run_script("pdf", "scripts/wait.sh"))
                while not (await library.audit(skill="pdf")).runs:
                    await asyncio.sleep(0)
                run.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await run
                while (await library.audit(skill="pdf")).runs[0].state == "running":
                    await asyncio.sleep(0)
                ended = (await library.audit(skill="pdf")).runs[0]
                assert isinstance(ended, types.AuditedRun)
                self.assertEqual(ended.outcome, "CANCELLED")

        asyncio.run(work())

    def test_changes_are_watched(self) -> None:
        async def work() -> None:
            async with AsyncLibrary([self.skills]) as library:
                changes = library.watch()
                first = asyncio.ensure_future(anext(changes))
                while not library._engine._connection or not library._engine._connection.listeners:  # pyright: ignore
                    await asyncio.sleep(0)
                self.write("csv/SKILL.md", "---\nname: csv\ndescription: Reads tables. Use when given.\n---\nGo.\n")
                self.assertIsNotNone((await first).skills)
                await changes.aclose()  # type: ignore[attr-defined]

        asyncio.run(work())


class DocumentTest(unittest.TestCase):
    def test_the_examples_of_the_package_are_true(self) -> None:
        kept = os.getcwd()
        os.chdir(REPOSITORY)
        self.addCleanup(os.chdir, kept)
        from repertoire_skills import aio, library

        for module in (repertoire_skills, library, aio):
            found = doctest.testmod(module)
            self.assertGreater(found.attempted, 0)
            self.assertEqual(found.failed, 0)

    def test_every_public_name_has_a_description(self) -> None:
        for name in repertoire_skills.__all__:
            public = getattr(repertoire_skills, name)
            self.assertTrue(public.__doc__, name)


if __name__ == "__main__":
    unittest.main()
