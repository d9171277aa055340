"""Adapters with the frameworks that are installed and a scripted model. They look at what the model was sent."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
import unittest
from typing import Any

from repertoire_skills import Library, find_rep
from repertoire_skills import types
from support import ScratchCase


def is_installed(module: str) -> bool:
    """Whether a framework is installed. The parent of a module may be missing too."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def needs(module: str) -> Any:
    """Skips a test loudly if a framework is not installed."""
    found = is_installed(module)
    if not found:
        print(f"SKIPPED: {module} is not installed", file=sys.stderr)
    return unittest.skipUnless(found, f"{module} is not installed")


class AdapterCase(ScratchCase):
    def setUp(self) -> None:
        super().setUp()
        # Names that frameworks refuse.
        self.write("secret/scripts/s.sh", "echo ran-hidden\n")
        self.write("odd/SKILL.md", "---\nname: Odd_Name\ndescription: Is odd. Use when names are odd.\n---\n\nBe odd.\n")

    def who(self) -> str:
        with Library([self.skills]) as library:
            run = library.audit(skill="pdf").runs[0]
            assert isinstance(run, types.AuditedRun) and run.who is not None
            self.assertEqual(run.tool, "scripts/env.sh")
            return run.who

    def check_result(self, text: str) -> None:
        self.assertIn("a b|", text)
        self.assertNotIn("tops3cret", text, "a script gets no environment")


@needs("langchain")
class LangChainTest(AdapterCase):
    def run_agent(self, calls: list[dict[str, Any]], is_async: bool = False) -> tuple[list[Any], list[Any], Any]:
        from langchain.agents import create_agent
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage

        from repertoire_skills.adapters.langchain import RepSkillsMiddleware

        sent: list[Any] = []

        class Scripted(GenericFakeChatModel):
            def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
                return self

            def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
                sent.append(list(messages))
                return super()._generate(messages, *args, **kwargs)

        turns = [AIMessage("", tool_calls=[call]) for call in calls]
        model = Scripted(messages=iter([*turns, AIMessage("done")]))
        skills = RepSkillsMiddleware([self.skills], agent="research")
        agent = create_agent(model, middleware=[skills])
        question = {"messages": [("user", "go")]}
        answer = asyncio.run(agent.ainvoke(question)) if is_async else agent.invoke(question)
        skills.library.close()
        return sent, answer["messages"], skills

    def test_the_model_gets_the_catalog_and_scripts_run_confined(self) -> None:
        calls = [
            {"name": "load_skill", "args": {"name": "pdf"}, "id": "c1"},
            {"name": "load_skill", "args": {"name": "secret"}, "id": "c2"},
            {"name": "read_skill_file", "args": {"skill": "pdf", "path": "references/forms.md"}, "id": "c3"},
            {"name": "read_skill_file", "args": {"skill": "pdf", "path": "../secret/SKILL.md"}, "id": "c4"},
            {"name": "search_skills", "args": {"text": "fill in a form"}, "id": "c5"},
            {"name": "query_skill", "args": {"query": "pdf:meta.name"}, "id": "c6"},
            {"name": "run_skill_script",
             "args": {"skill": "pdf", "script": "scripts/env.sh", "arguments": ["a b"]}, "id": "c7"},
            {"name": "run_skill_script",
             "args": {"skill": "secret", "script": "scripts/s.sh", "arguments": []}, "id": "c8"},
            {"name": "query_skill", "args": {"query": "secret:meta.name"}, "id": "c9"},
        ]
        for is_async in (False, True):
            sent, messages, _ = self.run_agent(calls, is_async)
            system = sent[0][0].content
            self.assertIn("<name>pdf</name>", system)
            self.assertIn("<name>Odd_Name</name>", system)
            for hidden in ("secret", "broken", "<location>"):
                self.assertNotIn(hidden, system)
            results = {message.tool_call_id: message.content for message in messages if message.type == "tool"}
            self.assertIn("1. Fill the form.", results["c1"])
            self.assertEqual(results["c3"], "Fields have names.\n")
            self.assertIn("SKILL_NOT_FOUND", results["c2"], "a hidden skill does not exist for a model")
            self.assertNotIn("Go.", results["c2"])
            self.assertIn("OUTSIDE", results["c4"])
            self.assertIn("pdf: Fills PDF forms.", results["c5"])
            self.assertEqual(results["c6"], '"pdf"')
            self.check_result(results["c7"])
            self.assertIn("SKILL_NOT_FOUND", results["c8"])
            self.assertNotIn("ran-hidden", results["c8"])
            self.assertIn("SKILL_NOT_FOUND", results["c9"])
        self.assertRegex(self.who(), r" for langchain [0-9.]+ \(agent research, call c7\)$")


@needs("haystack")
class HaystackTest(AdapterCase):
    def test_the_store_lists_and_reads_active_skills(self) -> None:
        os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
        from haystack import component
        from haystack.components.agents import Agent
        from haystack.dataclasses import ChatMessage, ToolCall
        from haystack.tools import SkillToolset

        from repertoire_skills.adapters.haystack import RepSkillStore

        seen: list[list[str]] = []

        @component
        class Scripted:
            def __init__(self) -> None:
                self.turns = [
                    ChatMessage.from_assistant(tool_calls=[ToolCall("load_skill", {"name": "pdf"})]),
                    ChatMessage.from_assistant("done"),
                ]

            @component.output_types(replies=list[ChatMessage])
            def run(self, messages: list[ChatMessage], tools: Any = None, **kwargs: Any) -> dict[str, Any]:
                seen.append([tool.description for tool in tools or []] + [str(message) for message in messages])
                return {"replies": [self.turns.pop(0)]}

        store = RepSkillStore([self.skills])
        again = RepSkillStore.from_dict(store.to_dict())
        self.assertEqual(list(again.list_skills()), ["Odd_Name", "pdf"])
        text, files = store.load_skill("pdf")
        self.assertIn("1. Fill the form.", text)
        self.assertEqual(files, ["references/forms.md", "scripts/env.sh"])
        self.assertEqual(store.read_skill_file("pdf", "references/forms.md"), "Fields have names.\n")
        for name in ("secret", "broken", "not-there"):
            with self.assertRaises(KeyError):
                store.load_skill(name)
        for path in ("missing.md", "../secret/SKILL.md"):
            with self.assertRaises(FileNotFoundError):
                store.read_skill_file("pdf", path)
        agent = Agent(chat_generator=Scripted(), tools=SkillToolset(store))
        answer = agent.run(messages=[ChatMessage.from_user("go")])
        catalog = "\n".join(seen[0])
        self.assertIn("Fills PDF forms.", catalog)
        self.assertIn("Odd_Name", catalog)
        self.assertNotIn("Deploys.", catalog)
        results = [message.tool_call_result for message in answer["messages"] if message.tool_call_result]
        self.assertIn("1. Fill the form.", str(results[0].result))
        store.library.close()
        again.library.close()


@needs("agent_framework")
class AgentFrameworkTest(AdapterCase):
    def run_agent(self, make_provider: Any, calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[str], list[str]]:
        """Returns what the model was sent, and the results of its calls."""
        from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

        seen: list[str] = []

        class Scripted(FunctionInvocationLayer, BaseChatClient):  # type: ignore[misc, type-arg]
            def _inner_get_response(self, *, messages: Any, stream: bool = False, options: Any = None, **_: Any) -> Any:
                async def respond() -> Any:
                    turn = len(seen)
                    seen.append(str(options) + "\n".join(message.text for message in messages))
                    if turn < len(calls):
                        name, arguments = calls[turn]
                        content = Content.from_function_call(call_id=f"c{turn}", name=name, arguments=arguments)
                    else:
                        content = Content.from_text("done")
                    return ChatResponse(messages=[Message(role="assistant", contents=[content])])

                return respond()

        async def work() -> list[str]:
            provider, close = make_provider()
            agent = Agent(client=Scripted(), name="writer", context_providers=[provider])
            answer = await agent.run("go")
            await close()
            contents = [content for message in answer.messages for content in message.contents]
            return [str(content.result) for content in contents if content.type == "function_result"]

        return seen, asyncio.run(work())

    def test_the_source_lists_every_active_skill_and_scripts_run_confined(self) -> None:
        from agent_framework import SkillsProvider

        from repertoire_skills.adapters.agent_framework import RepSkillsSource

        def make_provider() -> tuple[Any, Any]:
            source = RepSkillsSource([self.skills])
            provider = SkillsProvider(
                source,
                disable_load_skill_approval=True,
                disable_read_skill_resource_approval=True,
                disable_run_skill_script_approval=True,
            )
            return provider, source.library.close

        calls = [
            ("load_skill", {"skill_name": "pdf"}),
            ("read_skill_resource", {"skill_name": "pdf", "resource_name": "references/forms.md"}),
            ("run_skill_script", {"skill_name": "pdf", "script_name": "scripts/env.sh", "args": ["a b"]}),
            ("load_skill", {"skill_name": "secret"}),
        ]
        seen, results = self.run_agent(make_provider, calls)
        self.assertIn("<name>pdf</name>", seen[0])
        self.assertIn("<name>Odd_Name</name>", seen[0])
        self.assertNotIn("Deploys.", seen[0])
        self.assertIn("1. Fill the form.", results[0])
        self.assertIn("Fields have names.", results[1])
        self.check_result(results[2])
        self.assertNotIn("Go.", results[3], "a hidden skill does not exist for a model")
        self.assertRegex(self.who(), r" for agent-framework [0-9.]+ \(agent writer")

    def test_the_source_of_the_framework_reads_a_server(self) -> None:
        """``MCPSkillsSource`` needs no code of ours: it reads ``skill://index.json`` of ``rep serve``."""
        if not is_installed("mcp"):
            print("SKIPPED: mcp is not installed, so `rep serve` was not read by MCPSkillsSource", file=sys.stderr)
            return
        from agent_framework import MCPSkillsSource
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        async def work() -> tuple[list[str], str, str]:
            command = StdioServerParameters(
                command=find_rep(), args=["serve", "--path", str(self.skills)], env=dict(os.environ)
            )
            async with stdio_client(command) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
                await session.initialize()
                nobody: Any = None
                skills = await MCPSkillsSource(client=session).get_skills(nobody)
                pdf = next(skill for skill in skills if skill.frontmatter.name == "pdf")
                resource = await pdf.get_resource("references/forms.md")
                assert resource is not None
                return [s.frontmatter.name for s in skills], await pdf.get_content(), str(await resource.read())

        names, content, resource = asyncio.run(work())
        with Library([self.skills]) as library:
            active = [skill.qualified_name for skill in library.skills()]
        # The framework itself drops names that are not in lower case.
        self.assertEqual(sorted(names), sorted(name for name in active if name.islower()))
        self.assertIn("1. Fill the form.", content)
        self.assertIn("Fields have names.", resource)

    def test_the_catalog_keeps_its_budget(self) -> None:
        from repertoire_skills.adapters.agent_framework import RepSkillsSource

        async def work() -> tuple[list[str], list[str], tuple[str, ...]]:
            source = RepSkillsSource([self.skills], budget=60)
            listed = [(skill.frontmatter.name, skill.frontmatter.description) for skill in await source.get_skills()]
            shown = await source.library.prompt(budget=60)
            await source.library.close()
            self.assertEqual(listed, list(zip(shown.skills, shown.descriptions)))
            return [name for name, _ in listed], [text for _, text in listed], source.left_out

        names, texts, left_out = asyncio.run(work())
        self.assertEqual(sorted([*names, *left_out]), ["Odd_Name", "pdf"])
        full = "Fills PDF forms. Use for forms. Is odd. Use when names are odd."
        self.assertLess(len(" ".join(texts)), len(full))

    def test_the_runner_confines_scripts_of_the_sources_of_the_framework(self) -> None:
        from agent_framework import SkillsProvider

        from repertoire_skills.adapters.agent_framework import rep_script_runner

        async def close() -> None:
            pass

        def make_provider() -> tuple[Any, Any]:
            provider = SkillsProvider.from_paths(
                self.skills / "pdf",
                script_runner=rep_script_runner,
                script_extensions=(".sh",),
                disable_load_skill_approval=True,
                disable_run_skill_script_approval=True,
            )
            return provider, close

        calls = [("run_skill_script", {"skill_name": "pdf", "script_name": "scripts/env.sh", "args": ["a b"]})]
        _, results = self.run_agent(make_provider, calls)
        self.check_result(results[0])
        self.assertRegex(self.who(), r" for agent-framework [0-9.]+")


@needs("pydantic_ai_skills")
class PydanticAiTest(AdapterCase):
    def test_scripts_run_confined_and_those_of_hidden_skills_not_at_all(self) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
        from pydantic_ai.models.function import AgentInfo, FunctionModel
        from pydantic_ai_skills import SkillsCapability

        from repertoire_skills.adapters.pydantic_ai import RepScriptExecutor

        calls = [
            ("load_capability", {"id": "pdf"}),
            ("run_skill_script", {"skill_name": "pdf", "script_name": "scripts/env.sh", "args": {"field": "a b"}}),
        ]
        sent: list[str] = []

        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            turn = len(sent)
            sent.append(str(messages) + str(info.instructions))
            if turn < len(calls):
                return ModelResponse(parts=[ToolCallPart(calls[turn][0], calls[turn][1])])
            return ModelResponse(parts=[TextPart("done")])

        async def work() -> None:
            # The loader of the framework stops at a skill that it refuses, so it gets one that it accepts.
            shutil.copytree(self.skills / "pdf", self.root / "accepted/pdf")
            executor = RepScriptExecutor([self.root / "accepted"])
            skills = SkillsCapability(self.root / "accepted", script_executor=executor)
            await Agent(FunctionModel(answer), capabilities=[skills], name="writer").run("go")
            await executor.library.close()

        asyncio.run(work())
        self.assertIn("Fills PDF forms.", sent[0])
        self.check_result(sent[-1])
        self.assertRegex(self.who(), r" for pydantic-ai-skills [0-9.]+")

    def test_the_catalog_is_that_of_the_library(self) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
        from pydantic_ai.models.function import AgentInfo, FunctionModel
        from pydantic_ai_skills import SkillsCapability

        from repertoire_skills.adapters.pydantic_ai import rep_skills

        calls = [
            ("load_capability", {"id": "Odd_Name"}),
            ("load_capability", {"id": "pdf"}),
            ("read_skill_resource", {"skill_name": "pdf", "resource_name": "references/forms.md"}),
            ("run_skill_script", {"skill_name": "pdf", "script_name": "scripts/env.sh", "args": {"field": "a b"}}),
        ]
        sent: list[str] = []

        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            turn = len(sent)
            sent.append(str(messages) + str(info.instructions) + str(info.function_tools))
            if turn < len(calls):
                return ModelResponse(parts=[ToolCallPart(calls[turn][0], calls[turn][1], tool_call_id=f"c{turn}")])
            return ModelResponse(parts=[TextPart("done")])

        self.write("colon/SKILL.md", '---\nname: "My: skill"\ndescription: Has a colon. Use with colons.\n---\nGo on.\n')
        self.write("hyphen/SKILL.md", "---\nname: My- skill\ndescription: Has none. Use without colons.\n---\nGo on.\n")
        with Library([self.skills], for_model=True) as library:
            skills = rep_skills(library=library, agent="writer")
            names = [skill.name for skill in skills]
            self.assertEqual((len(set(names)), [name for name in names if ":" in name]), (4, []), names)
            self.assertEqual([skill.description for skill in skills], list(library.prompt().descriptions))
            short = rep_skills(library=library, budget=60)
            self.assertEqual(len(short), len(library.prompt(budget=60).skills))
            agent = Agent(FunctionModel(answer), capabilities=[SkillsCapability(skills=skills)])
            asyncio.run(agent.run("go"))
        self.assertIn("Fills PDF forms.", sent[0])
        self.assertIn("Odd_Name", sent[0], "a name that the loader of the framework refuses")
        self.assertNotIn("Deploys.", sent[0], "a hidden skill does not exist for a model")
        self.assertIn("Be odd.", sent[1])
        self.assertIn("1. Fill the form.", sent[2])
        self.assertIn("Fields have names.", sent[3])
        self.check_result(sent[4])
        self.assertRegex(self.who(), r" for pydantic-ai-skills [0-9.]+ \(agent writer, call c3\)$")

    def test_only_files_of_active_skills_are_scripts(self) -> None:
        from pydantic_ai_skills import SkillScript

        from repertoire_skills.adapters.pydantic_ai import RepScriptExecutor, script_words

        self.assertEqual(script_words({"a": True, "b": False, "c": [1, 2], "d": None, "e": "x y"}),
                         ["--a", "--c", "1", "--c", "2", "--e", "x y"])

        async def work() -> None:
            executor = RepScriptExecutor([self.skills])
            for path in (self.skills / "secret/scripts/s.sh", self.skills / "../elsewhere.sh"):
                with self.assertRaises(ValueError):
                    await executor.run(SkillScript(name="s", uri=str(path)))
            await executor.library.close()

        asyncio.run(work())


@needs("google.adk.skills")
class AdkTest(AdapterCase):
    def test_skills_are_found_and_scripts_leave_the_process_of_the_agent(self) -> None:
        from google.adk.agents import LlmAgent
        from google.adk.models import BaseLlm, LlmResponse
        from google.adk.runners import InMemoryRunner
        from google.adk.tools.skill_toolset import SkillToolset
        from google.genai import types as genai

        from repertoire_skills.adapters.adk import RepCodeExecutor, RepSkillRegistry

        script = "import os, sys\nprint(sys.argv[1:], os.environ.get('A_TOKEN'), os.getppid() > 0)\nopen('/etc/shadow')\n"
        self.write("pdf/scripts/env.py", script)
        calls = [
            ("search_skills", {"query": "fill in a form"}),
            ("load_skill", {"skill_name": "pdf"}),
            ("run_skill_script", {"skill_name": "pdf", "file_path": "scripts/env.py", "args": ["a b"]}),
            ("load_skill", {"skill_name": "secret"}),
        ]
        seen: list[str] = []

        class Scripted(BaseLlm):
            model: str = "scripted"

            async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
                turn = len(seen)
                seen.append(str(request))
                if turn < len(calls):
                    name, arguments = calls[turn]
                    part = genai.Part(function_call=genai.FunctionCall(name=name, args=arguments))
                else:
                    part = genai.Part(text="done")
                yield LlmResponse(content=genai.Content(role="model", parts=[part]))

        async def work() -> list[str]:
            registry = RepSkillRegistry([self.skills])
            found = {one.name for one in await registry.search_skills(query="odd names")}
            self.assertEqual(found, {"Odd_Name"})
            toolset = SkillToolset(registry=registry, code_executor=RepCodeExecutor())
            agent = LlmAgent(name="writer", model=Scripted(), instruction="x", tools=[toolset])
            runner = InMemoryRunner(agent=agent, app_name="test")
            session = await runner.session_service.create_session(app_name="test", user_id="u")
            question = genai.Content(role="user", parts=[genai.Part(text="go")])
            responses: list[str] = []
            async for event in runner.run_async(user_id="u", session_id=session.id, new_message=question):
                for part in event.content.parts if event.content else []:
                    if part.function_response:
                        responses.append(str(part.function_response.response))
            await registry.library.close()
            return responses

        results = asyncio.run(work())
        self.assertIn("Fills PDF forms.", results[0])
        self.assertIn("1. Fill the form.", results[1])
        self.assertIn("['a b'] None True", results[2])
        self.assertIn("shadow", results[2])
        self.assertNotIn("Go.", results[3], "a hidden skill is not loaded")
        with Library([self.skills]) as library:
            run = library.audit(skill="adk-code").runs[0]
        self.assertRegex(str(run.who), r" for google-adk [0-9.]+ \(agent writer, call .+\)$")


class IndependenceTest(unittest.TestCase):
    def test_the_package_needs_no_framework(self) -> None:
        program = (
            "import sys, repertoire_skills, repertoire_skills.adapters\n"
            "print([name for name in ('langchain', 'haystack', 'agent_framework', 'google.adk', 'pydantic_ai') if name in sys.modules])"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout.strip(), "[]")


if __name__ == "__main__":
    unittest.main()
