"""`adoprof mcp` and a real client. scripts/check-mcp prepares it and runs this."""

import asyncio
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client

ADOPROF = sys.argv[1]
FIXTURES = pathlib.Path("tests/fixtures").resolve()
READING = {"analyze", "diff", "source", "explain", "ledger"}
RUNNING = {"survey", "profile", "try"}
# What a page may have at most, and what the ends of most tokens are: letters in threes, digits in pairs, other signs alone.
PAGE_TOKENS = 2000


def tokens(text):
    """No fewer than a tokenizer of a language model makes of it."""
    parts = re.findall(r"[A-Za-z]{1,3}|[0-9]{1,2}|[^A-Za-z0-9 ]", text)
    return sum(len(part.encode()) if not part.isascii() else 1 for part in parts)


class Place:
    """A root with profiles in it, things beside it that nobody may read, and a user's configuration."""

    def __init__(self, configuration=""):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="adoprof-mcp-"))
        self.root = self.base / "root"
        self.root.mkdir()
        for page, fixture in [("raw", "rules/ado_v2.raw.csv"), ("details", "cli/v2.details.csv"),
                              ("source.cuda-sass", "rules/ado_v2.source.cuda-sass.csv")]:
            shutil.copy(FIXTURES / fixture, self.root / f"here.{page}.csv")
            shutil.copy(FIXTURES / fixture, self.base / f"outside.{page}.csv")
        (self.root / "link.raw.csv").symlink_to(self.base / "outside.raw.csv")
        (self.root / "folder").symlink_to(self.base)
        (self.root / "deep").mkdir()
        (self.root / "deep" / "inner.raw.csv").symlink_to(self.base / "outside.raw.csv")
        slow = self.root / "slow.sh"
        slow.write_text("#!/bin/sh\necho $$ > started\nexec sleep 120\n")
        slow.chmod(0o755)
        (self.base / "adoprof.toml").write_text(configuration)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.base), "CUDA_VISIBLE_DEVICES": "",
            "ADOPROF_CONFIG": str(self.base / "adoprof.toml"),
        }

    def server(self):
        words = ["mcp", "--root", str(self.root)]
        return StdioServerParameters(command=ADOPROF, args=words, env=self.environment, cwd=str(self.root))

    def raw(self, lines, wait=20):
        """What the server answers to bytes, until its input ends."""
        words = [ADOPROF, "mcp", "--root", str(self.root)]
        run = subprocess.run(words, input=lines, capture_output=True, env=self.environment, cwd=self.root, timeout=wait)
        assert run.returncode == 0, run
        return [json.loads(line) for line in run.stdout.splitlines()]


async def with_session(place, talk):
    async with stdio_client(place.server()) as (read, write):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            assert hello.serverInfo.name == "adoprof" and "pages" not in hello.protocolVersion
            await talk(session)


async def answer(session, tool, **arguments):
    """A tool's text."""
    result = await session.call_tool(tool, arguments)
    assert not result.isError, (tool, arguments, result.content)
    return result.content[0].text


async def refused(session, tool, words, **arguments):
    result = await session.call_tool(tool, arguments)
    text = result.content[0].text
    assert result.isError and words in text, (tool, arguments, text)
    assert "\n" not in text.strip() and len(text) < 1600, text


async def reading(session):
    listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert set(listed) == READING, set(listed)
    for tool in listed.values():
        assert tool.description and tool.inputSchema["additionalProperties"] is False
        assert tool.annotations.readOnlyHint is True
    answers = {
        "analyze a file": await answer(session, "analyze", path="here.raw.csv"),
        "analyze a step": await answer(session, "analyze", path="ado/v2"),
        "analyze a launch": await answer(session, "analyze", path="matmul/m1", launch=0, kernel="."),
        "diff": await answer(session, "diff", base="ado/v1", new="ado/v2"),
        "source": await answer(session, "source", path="here.raw.csv", lines=200),
        "explain": await answer(session, "explain", rule="shared-memory-pressure"),
        "explain all": await answer(session, "explain"),
        "ledger": await answer(session, "ledger"),
    }
    for name, text in answers.items():
        assert 40 < tokens(text) <= PAGE_TOKENS and "(cut)" not in text, (name, tokens(text), text)
        print(f"  {name}: {tokens(text)} tokens at most")
    text = answers["analyze a step"]
    assert "launch 0, finding 1: shared-memory-pressure, worth " in text, text
    assert "[launch 0, gpu__time_duration.sum]" in text and "metrics [launch 0]: " in text, text
    # Each line with a number says of what it is.
    for line in text.splitlines():
        is_cited = "launch 0" in line or line.startswith(("  ", "step ", "profile ", "verdict", "notice", "(page"))
        assert is_cited or not re.search(r"\d", line), line
    assert re.search(r"\.cu:\d+  \d+(\.\d)?% of warp samples", answers["source"]), answers["source"]
    assert "[launch 0, source counters]" in answers["source"]
    assert re.search(r"\[all launches\]: .* -> ", answers["diff"]), answers["diff"]
    more = await answer(session, "explain", page=2)
    assert more != answers["explain all"] and "page 2 of" in more
    detail = await answer(session, "analyze", path="ado/v2", detail=True)
    assert len(detail) > len(text) and tokens(detail) <= 10 * PAGE_TOKENS
    print("  pages, detail and citations hold")


async def hostile(session):
    outside = str(pathlib.Path(tempfile.gettempdir()).resolve())
    for path, words in [
        ("../outside.raw.csv", "leaves the root"), ("deep/../../outside.raw.csv", "leaves the root"),
        ("/etc/passwd", "leaves the root"), (outside, "leaves the root"), ("link.raw.csv", "symbolic link"),
        ("folder/outside.raw.csv", "symbolic link"), ("deep", "symbolic link"), ("gone.ncu-rep", "there is no"),
        ("", "is not a path"), ("x" * 5000, "are allowed"), ("a\0b", "zero byte"), ("--live", "there is no"),
        ("ado/v99", "no step"),
    ]:
        await refused(session, "analyze", words, path=path)
        await refused(session, "source", words, path=path)
        await refused(session, "diff", words, base="ado/v2", new=path)
    await refused(session, "analyze", "arguments are path", path="ado/v2", output="/tmp/x")
    await refused(session, "analyze", "whole number", path="ado/v2", page=-1)
    await refused(session, "analyze", "no page 99", path="ado/v2", page=99)
    await refused(session, "analyze", "no launch 7", path="ado/v2", launch=7)
    await refused(session, "analyze", "is a text", path={"a": ["b"]})
    await refused(session, "analyze", "regular expression", path="ado/v2", kernel="(")
    await refused(session, "explain", "no rule", rule="--help")
    await refused(session, "ledger", "no rule", rule="nonsense")
    for tool in RUNNING:
        await refused(session, tool, "is not allowed here", command=["./slow.sh"], step="v2")
    for tool, words in [("analyse", "did you mean `analyze`?"), ("x" * 10_000, "no tool")]:
        try:
            await session.call_tool(tool, {})
            raise AssertionError(tool)
        except McpError as error:
            assert words in error.error.message and len(error.error.message) < 300, error
    # All of that left the server in order, and calls side by side find their answers.
    several = await asyncio.gather(*[answer(session, "analyze", path=f"ado/v{at}") for at in (1, 2, 3, 4)])
    assert all(f"step ado/v{at} " in text for at, text in zip((1, 2, 3, 4), several)), several
    print("  hostile calls are refused in a sentence each")


async def running(place, session):
    listed = {tool.name for tool in (await session.list_tools()).tools}
    assert listed == READING | {"survey"}, listed
    await refused(session, "profile", "is not allowed here", command=["./slow.sh"])
    await refused(session, "survey", "mcp.programs", command=["/bin/sh", "-c", "true"])
    await refused(session, "survey", "leaves the root", command=["../evil"])
    await refused(session, "survey", "whole number", command=["./slow.sh"], timeout_s=10_000)
    await refused(session, "survey", "words", command=["./slow.sh"] + ["x"] * 100)
    # One that is named runs, and has no kernel.
    await refused(session, "survey", "CUDA", command=["true"])


def alive(process):
    """True for a process that is not only waiting to be buried."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(what, seconds=30):
    start = time.monotonic()
    while not what():
        assert time.monotonic() - start < seconds, "it took too long"
        time.sleep(0.05)


def message(**fields):
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def cancelled(place, by_end):
    """A call that is cancelled, or whose client leaves, ends what it started, and has no answer."""
    words = [ADOPROF, "mcp", "--root", str(place.root)]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=place.environment, cwd=place.root)
    started = place.root / "started"
    started.unlink(missing_ok=True)
    params = {"name": "survey", "arguments": {"command": ["./slow.sh"]}}
    server.stdin.write(message(id=7, method="tools/call", params=params))
    server.stdin.flush()
    until(lambda: started.exists() and started.read_text().strip())
    process = int(started.read_text())
    assert alive(process)
    if by_end == "notice":
        server.stdin.write(message(method="notifications/cancelled", params={"requestId": 7}))
        server.stdin.flush()
        until(lambda: not alive(process))
        server.stdin.write(message(id=8, method="ping"))
        server.stdin.flush()
        first = json.loads(server.stdout.readline())
        assert first == {"jsonrpc": "2.0", "id": 8, "result": {}}, first
        server.stdin.close()
    elif by_end == "end":
        server.stdin.close()
    else:
        server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=60) is not None
    until(lambda: not alive(process))
    assert server.stdout.read() == b"", "a cancelled call is not answered"
    print(f"  a call ended by {by_end} leaves nothing running")


def raw_lines(place):
    """Bytes that no client would send; each is answered with its error, and the server goes on."""
    lines = [
        (b"nonsense\n", -32700), (b"{\n", -32700), (b"\xff\xfe\n", -32700), (b"[" * 200_000 + b"\n", -32700),
        (b"x" * (3 << 20) + b"\n", -32600), (b"[]\n", -32600), (b"{}\n", -32600), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600),
        (message(id=1, method="no/such"), -32601), (message(id=2, method="tools/call", params={}), -32602),
        (message(id=3, method="tools/call", params=[1]), -32602), (message(id=4, method="resources/list"), -32601),
    ]
    answers = place.raw(b"\n\n" + b"".join(line for line, _ in lines) + message(id="last", method="ping"))
    assert [one["error"]["code"] for one in answers[:-1]] == [code for _, code in lines], answers
    assert answers[-1] == {"jsonrpc": "2.0", "id": "last", "result": {}}, answers[-1]
    # Notices about nothing, answers nobody asked for, and a message without its end change nothing.
    quiet = message(method="notifications/cancelled", params={"requestId": 99}) + message(method="notifications/cancelled")
    quiet += message(id=5, result={}) + message(method="made/up", params={"a": [1] * 1000}) + b'{"jsonrpc"'
    assert [one["error"]["code"] for one in place.raw(quiet)] == [-32700]
    # More calls at once than are taken: each has an answer of its own.
    call = {"name": "explain", "arguments": {}}
    several = b"".join(message(id=at, method="tools/call", params=call) for at in range(50))
    words = [ADOPROF, "mcp", "--root", str(place.root)]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=place.environment, cwd=place.root)
    server.stdin.write(several)
    server.stdin.flush()
    found = [json.loads(server.stdout.readline()) for _ in range(50)]
    assert {one["id"] for one in found} == set(range(50))
    busy = [one for one in found if one["result"]["isError"]]
    assert all("under way" in one["result"]["content"][0]["text"] for one in busy) and 0 < len(busy) < 50, len(busy)
    server.stdin.close()
    assert server.wait(timeout=30) == 0
    print("  raw lines are answered with their errors")


def configuration(place):
    """A project allows nothing, and a name that is no tool is told."""
    (place.root / "adoprof.toml").write_text('[mcp]\nallow = ["profile"]\n')
    run = subprocess.run([ADOPROF, "mcp"], capture_output=True, env=place.environment, cwd=place.root, input=b"")
    assert run.returncode == 2 and b"comes with the project" in run.stderr, run
    (place.root / "adoprof.toml").unlink()
    (place.base / "adoprof.toml").write_text('[mcp]\nallow = ["profil"]\n')
    run = subprocess.run([ADOPROF, "mcp"], capture_output=True, env=place.environment, cwd=place.root, input=b"")
    assert run.returncode == 2 and b"did you mean `profile`?" in run.stderr, run
    run = subprocess.run([ADOPROF, "mcp", "--root", "gone"], capture_output=True, env=place.environment | {"ADOPROF_CONFIG": ""}, cwd=place.root, input=b"")
    assert run.returncode == 2 and b"gone" in run.stderr, run
    print("  the configuration decides what runs")


def main():
    place = Place()
    allowing = Place('[mcp]\nallow = ["survey"]\nprograms = ["true"]\n')
    try:
        asyncio.run(with_session(place, reading))
        asyncio.run(with_session(place, hostile))
        asyncio.run(with_session(allowing, lambda session: running(allowing, session)))
        for by_end in ("notice", "end", "SIGTERM"):
            cancelled(allowing, by_end)
        raw_lines(place)
        configuration(place)
    finally:
        for one in (place, allowing):
            shutil.rmtree(one.base, ignore_errors=True)
    print("check-mcp: the server keeps to its bounds")


main()
