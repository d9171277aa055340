// Tests `rep serve` with the two generations of the TypeScript SDK, over HTTP and stdio: all resources, all skills, one
// loaded skill, one run.
//
//   node mcp_clients.mjs URL BINARY WORKSPACE SKILLS...
import assert from "node:assert";
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { z } from "zod";

const [url, binary, workspace, ...folders] = process.argv.slice(2);
const args = ["serve", "--allow-run", "--workspace", workspace, ...folders.flatMap((folder) => ["--path", folder])];
const info = { name: "test", version: "1" };

async function all(list, field) {
  const items = [];
  for (let cursor; ; ) {
    const page = await list(cursor ? { cursor } : {});
    items.push(...page[field]);
    cursor = page.nextCursor;
    if (!cursor) return items;
  }
}

async function through(what, client, transport, listSkills) {
  await client.connect(transport);
  try {
    const tools = await all((params) => client.listTools(params), "tools");
    assert(tools.some((tool) => tool.name === "load_skill"));
    const resources = await all((params) => client.listResources(params), "resources");
    const skills = await all((params) => listSkills(client, params), "skills");
    assert(skills.length > 0 && resources.length >= skills.length);
    for (const skill of skills) assert(resources.some((resource) => resource.uri === skill.uri), skill.uri);
    const read = await client.readResource({ uri: "skill://csv-profile/SKILL.md" });
    assert(read.contents[0].text.startsWith("---\n"));
    const loaded = await client.callTool({ name: "load_skill", arguments: { name: "csv-profile" } });
    assert(loaded.content[0].text.includes("`csv-profile__profile`"), loaded.content[0].text);
    const run = await client.callTool({ name: "csv-profile__profile", arguments: { path: "harvest.csv" } });
    assert.equal(run.structuredContent.rows, 2, JSON.stringify(run));
    console.log("      ", what, tools.length, "tools", resources.length, "resources", skills.length, "skills");
  } finally {
    await client.close();
  }
}

const anything = z.object({ skills: z.array(z.any()), nextCursor: z.string().optional() }).passthrough();
const listOld = (client, params) => client.request({ method: "skills/list", params }, anything);
const listNew = (client, params) => client.request({ method: "skills/list", params }, anything);
for (const [name, pin] of [["2026-07-28", "2026-07-28"], ["2025-11-25", null]]) {
  const options = { capabilities: {}, versionNegotiation: { mode: pin ? { pin } : "legacy" } };
  await through(`client 2, http, ${name}`, new NewClient(info, options), new NewHttp(new URL(url)), listNew);
  await through(`client 2, stdio, ${name}`, new NewClient(info, options), new NewStdio({ command: binary, args, env: process.env }), listNew);
}
await through("sdk 1, http", new OldClient(info), new OldHttp(new URL(url)), listOld);
await through("sdk 1, stdio", new OldClient(info), new OldStdio({ command: binary, args, env: process.env }), listOld);
