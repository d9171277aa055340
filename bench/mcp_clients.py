"""Tests `rep serve` with Python clients: FastMCP over HTTP and stdio, and its skill utilities.

    mcp_clients.py URL BINARY SKILLS
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


async def through(client, what):
    async with client:
        tools = {tool.name for tool in await client.list_tools()}
        assert {"list_skills", "load_skill", "query_skill"} <= tools, tools
        resources = await client.list_resources()
        assert any(str(one.uri) == "skill://csv-profile/SKILL.md" for one in resources)
        read = await client.read_resource("skill://csv-profile/SKILL.md")
        assert read[0].text.startswith("---\n")
        loaded = await client.call_tool("load_skill", {"name": "csv-profile"})
        assert loaded.structured_content["name"] == "csv-profile"
        asked = await client.call_tool("query_skill", {"query": "http-status:meta.name"})
        assert asked.structured_content["value"] == "http-status", asked
        prompts = await client.list_prompts()
        prompt = await client.get_prompt(prompts[0].name)
        assert prompt.messages
        print("      ", what, client.protocol_version, len(tools), "tools", len(resources), "resources")


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
            assert len(synced) == len(known) and (Path(folder) / "csv-profile" / "SKILL.md").is_file()
        print("       sync_skills", len(synced))


async def main(url, binary, folder):
    await through(Client(url), "http")
    await through(Client(StdioTransport(binary, ["serve", "--path", folder])), "stdio")
    await skills(url)


asyncio.run(main(*sys.argv[1:]))
