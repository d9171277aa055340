"""Tests `rep serve` with Python clients: the SDK and FastMCP over HTTP and stdio, and FastMCP's utilities for skills.

    mcp_clients.py URL BINARY WORKSPACE SKILLS...
"""

import asyncio
import hashlib
import sys
import tempfile
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.skills.client import SkillsClientExtension
from fastmcp.utilities import skills as utilities
from mcp import Client as SdkClient
from mcp import StdioServerParameters


async def through(client, what):
    async with client:
        tools = {tool.name for tool in await client.list_tools()}
        assert {"list_skills", "load_skill", "query_skill"} <= tools, tools
        resources = await client.list_resources()
        assert any(str(one.uri) == "skill://csv-profile/SKILL.md" for one in resources)
        read = await client.read_resource("skill://csv-profile/SKILL.md")
        assert read[0].text.startswith("---\n")
        loaded = await client.call_tool("load_skill", {"name": "csv-profile"})
        assert "Call `profile` with the path" in loaded.content[0].text, loaded
        run = await client.call_tool("csv-profile__profile", {"path": "harvest.csv"})
        assert run.structured_content["rows"] == 2, run
        asked = await client.call_tool("query_skill", {"query": "http-status:meta.name"})
        assert asked.structured_content["value"] == "http-status", asked
        prompts = await client.list_prompts()
        prompt = await client.get_prompt(prompts[0].name)
        assert prompt.messages
        print("      ", what, client.protocol_version, len(tools), "tools", len(resources), "resources")


async def through_sdk(server, what, mode):
    """Lists everything with the client of the SDK, loads a skill and runs its tool."""
    async with SdkClient(server, mode=mode, read_timeout_seconds=60) as client:
        counts = {}
        for list_page, field in ((client.list_tools, "tools"), (client.list_resources, "resources"), (client.list_prompts, "prompts")):
            cursor, counts[field] = None, 0
            while True:
                page = await list_page(cursor=cursor)
                counts[field] += len(getattr(page, field))
                cursor = page.next_cursor
                if not cursor:
                    break
        loaded = await client.call_tool("load_skill", {"name": "csv-profile"})
        assert "`csv-profile__profile`" in loaded.content[0].text, loaded
        run = await client.call_tool("csv-profile__profile", {"path": "harvest.csv"})
        assert run.structured_content["rows"] == 2, run
        print("      ", what, client.protocol_version, ", ".join(f"{count} {field}" for field, count in counts.items()))


async def skills(url):
    async with Client(url, extensions=[SkillsClientExtension()]) as client:
        listed = await client.list_skills()
        for skill in listed:
            for file in skill.resources:
                content = (await client.read_resource(str(file.uri)))[0]
                data = content.text.encode() if hasattr(content, "text") else __import__("base64").b64decode(content.blob)
                assert file.digest == "sha256:" + hashlib.sha256(data).hexdigest(), file.uri
        print("       skills/list", len(listed), "skills, every digest holds")
    async with Client(url) as client:
        known = await utilities.list_skills(client)
        with tempfile.TemporaryDirectory() as folder:
            synced = await utilities.sync_skills(client, folder)
            # It takes a SKILL.md in a directory of another skill for a skill, and does not write such a one.
            assert len(synced) == sum("/" not in skill.name for skill in known)
            assert (Path(folder) / "csv-profile" / "SKILL.md").is_file()
        print("       sync_skills", len(synced))


async def main(url, binary, workspace, *folders):
    arguments = ["serve", "--allow-run", "--workspace", workspace, *(word for folder in folders for word in ("--path", folder))]
    await through(Client(url), "fastmcp http")
    await through(Client(StdioTransport(binary, arguments)), "fastmcp stdio")
    for mode in ("auto", "legacy"):
        await through_sdk(url, "sdk http", mode)
        await through_sdk(StdioServerParameters(command=binary, args=arguments), "sdk stdio", mode)
    await skills(url)


asyncio.run(main(*sys.argv[1:]))
