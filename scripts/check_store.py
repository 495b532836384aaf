"""Keeps profiles in object stores and folders, and reads them back. scripts/check-store prepares it and runs this."""

import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import duckdb
import numpy
import polars
import pyarrow
import pyarrow.parquet

ADOPROF, SERVER, LAUNCHES = sys.argv[1], sys.argv[2], int(sys.argv[3])
BUCKET = "profiles"
# What s3rver takes.
KEYS = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER"}


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit(f"nothing answers at port {port}")


class Server:
    """s3rver with a folder of its own, which survives it."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.start()

    def start(self):
        words = [SERVER, "-d", str(self.folder), "-p", str(self.port), "-a", "127.0.0.1", "-s", "--configure-bucket", BUCKET]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port)

    def kill(self):
        self.process.kill()
        self.process.wait()


def signature(request, host, secret):
    """What Amazon's own library signs a request with, and what it is signed with. s3rver does not look at that."""
    method, target, _ = request.split(b"\r\n")[0].decode().split(" ")
    address, _, signed = target.partition("&X-Amz-Signature=")
    url = f"http://{host}{address}"
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
    _, _, region, service, _ = query["X-Amz-Credential"].split("/")
    auth = botocore.auth.S3SigV4QueryAuth(botocore.credentials.Credentials(KEYS["AWS_ACCESS_KEY_ID"], secret), service, region)
    asked = botocore.awsrequest.AWSRequest(method=method, url=url)
    asked.context["timestamp"] = query["X-Amz-Date"]
    canonical = auth.canonical_request(asked)
    return auth.signature(auth.string_to_sign(asked, canonical), asked), signed


REFUSED = b"<Error><Code>SignatureDoesNotMatch</Code><Message>The signature is another one.</Message></Error>"


class Front:
    """Stands before a server: refuses what is signed wrongly, and kills the server when so many bytes of uploads have come."""

    def __init__(self, server, most=None):
        self.server, self.left, self.killed, self.checked = server, most, False, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            upstream = socket.create_connection(("127.0.0.1", self.server.port))
        except OSError:
            client.close()
            return
        threading.Thread(target=self.back, args=(upstream, client), daemon=True).start()
        is_upload = False
        while data := client.recv(8192):
            if data.startswith((b"GET ", b"PUT ")):
                self.checked += 1
                expected, signed = signature(data, f"127.0.0.1:{self.port}", KEYS["AWS_SECRET_ACCESS_KEY"])
                if expected != signed:
                    client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%s" % (len(REFUSED), REFUSED))
                    client.close()
                    return
                is_upload = data.startswith(b"PUT ")
            if is_upload and self.left is not None:
                self.left -= len(data)
                if self.left <= 0 and not self.killed:
                    self.killed = True
                    time.sleep(0.5)  # What was passed on has come to the disk, if it ever does.
                    self.server.kill()
                    client.close()
                    return
            upstream.sendall(data)

    @staticmethod
    def back(upstream, client):
        try:
            while data := upstream.recv(65536):
                client.sendall(data)
            client.close()
        except OSError:
            pass


def run(*words, environment=None, expected=0, cwd=None):
    plain = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    run = subprocess.run(
        [ADOPROF, "history", *words],
        capture_output=True,
        text=True,
        env=plain | {"ADOPROF_CONFIG": ""} | (environment or {}),
        cwd=cwd,
    )
    assert run.returncode == expected, f"{words}: {run.returncode}: {run.stdout}{run.stderr}"
    return run.stdout if expected == 0 else run.stderr


def at(port, folder, **more):
    return KEYS | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "XDG_CACHE_HOME": str(folder / "cache")} | more


def files(folder):
    return sorted(path.name for path in folder.rglob("*.parquet*"))


def check_bucket(folder):
    disk = folder / "disk"
    disk.mkdir()
    server = Server(disk)
    store = ["--store", f"s3://{BUCKET}/team/a"]
    try:
        front = Front(server)
        here = at(front.port, folder)
        said = run("add", "v1", "v2", "--commit", "first", *store, environment=here)
        assert said.count("kept: ") == 2, said
        said = run("add", "v2", "--commit", "second", *store, environment=here)
        assert "known already: ado/v2" in said and "of commit first" in said, said
        said = run("--metric", "time", "--format", "csv", *store, environment=here)
        assert len(said.splitlines()) == 3 and "ado/v1" in said and "ado/v2" in said, said
        assert front.checked >= 7, front.checked
        print(f"  profiles are kept, known again, and read; {front.checked} signatures are those that botocore works out")

        wrong = run("--format", "csv", *store, environment=here | {"AWS_SECRET_ACCESS_KEY": "wrong"}, expected=3)
        assert "SignatureDoesNotMatch" in wrong, wrong
        none = run("--store", "s3://no-such-bucket", environment=here, expected=2)
        assert "NoSuchBucket" in none, none
        print("  a wrong key ends with 3, a bucket that is not there with 2, each in one sentence")

        # Killed when a part of the file has come.
        killer = Front(server, 12_000)
        said = run("add", "v3", "--commit", "third", *store, environment=at(killer.port, folder), expected=3)
        assert killer.killed and "broke off" in said and len(said.strip().splitlines()) == 1, said
        said = run("--format", "csv", *store, environment=here, expected=3)
        assert "broke off" in said, said
        server.start()
        said = run("--format", "csv", *store, environment=here)
        assert "ado/v3" not in said and len(said.splitlines()) == 3, said
        said = run("add", "v1", "v2", "v3", "--commit", "third", *store, environment=here)
        assert said.count("known already") == 2 and said.count("kept: ado/v3") == 1, said
        said = run("--format", "csv", *store, environment=here)
        assert len(said.splitlines()) == 4, said
        print("  the server is killed in the middle of an upload: nothing of it is seen, the next run keeps it")
    finally:
        server.kill()


def check_pages(folder):
    port = free_port()
    module = "import sys; from moto.server import main; main(sys.argv[1:])"
    plain = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    process = subprocess.Popen(
        [sys.executable, "-c", module, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=plain | {"MOTO_S3_DEFAULT_MAX_KEYS": "3"},
    )
    try:
        wait_for(port)
        environment = at(port, folder)
        subprocess.run(["curl", "-sf", "--noproxy", "*", "-X", "PUT", f"http://127.0.0.1:{port}/{BUCKET}"], check=True, stdout=subprocess.DEVNULL)
        store = ["--store", f"s3://{BUCKET}"]
        steps = ["v1", "v2", "v3", "v4", "v5", "reduce/r0", "reduce/r1", "reduce/r2"]
        run("add", *steps, "--commit", "one", *store, environment=environment)
        said = run("--format", "csv", *store, environment=environment)
        assert len(said.splitlines()) == 1 + len(steps), said
        print(f"  {len(steps)} profiles on pages of 3 names are all read")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def made_up(folder, launches, of_a_profile):
    """A store of profiles with the columns and types of one that adoprof wrote; the last third is 5% slower."""
    seed = folder / "seed"
    run("add", "v2", "--commit", "seed", "--store", str(seed))
    (path,) = seed.rglob("*.parquet")
    # Read as one file: below folders of this form, they would become columns.
    table = pyarrow.parquet.ParquetFile(path).read()
    store = folder / "store"
    dice = numpy.random.default_rng(1)
    profiles = launches // of_a_profile
    kernels = [f"kernel_{number}(float const*, float*, int)" for number in range(10)]
    for number in range(profiles):
        slow = 1.05 if number >= profiles * 2 // 3 else 1.0
        columns = {}
        for name in table.column_names:
            value = table[name][0].as_py()
            if name == "kernel":
                column = [kernels[launch % len(kernels)] for launch in range(of_a_profile)]
            elif name == "launch":
                column = list(range(of_a_profile))
            elif name in ("profile", "commit"):
                column = [f"{number:020x}" if name == "profile" else f"{number:040x}"] * of_a_profile
            elif name == "committed":
                column = [1_700_000_000 + 3600 * number] * of_a_profile
            elif name == "program":
                column = ["made-up"] * of_a_profile
            elif name.startswith("time_"):
                column = [None] * of_a_profile
            elif isinstance(value, float) and value > 0:
                scale = slow if name == "gpu__time_duration.sum" else 1.0
                column = value * scale * dice.normal(1.0, 0.01, of_a_profile)
            else:
                column = [value] * of_a_profile
            columns[name] = pyarrow.array(column, table.schema.field(name).type)
        date = f"2026-{1 + number * 12 // profiles:02d}-01"
        place = store / "gpu=nvidia-h200" / "program=made-up" / f"date={date}"
        place.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(
            pyarrow.table(columns), place / f"{number:020x}.parquet", compression="zstd", use_dictionary=False
        )
    size = sum(path.stat().st_size for path in store.rglob("*.parquet"))
    print(f"  {profiles} files of {of_a_profile} launches, {len(table.column_names)} columns: {size / 1e6:.0f} MB")
    return store


def timed(words):
    """What a process of its own takes, the best of three runs, in words, and what it prints."""
    best = None
    for _ in range(3):
        start = time.monotonic()
        process = subprocess.Popen(words, stdout=subprocess.PIPE, env=os.environ | {"ADOPROF_CONFIG": ""})
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, words
        seconds = time.monotonic() - start
        if best is None or seconds < best[0]:
            best = (seconds, usage, out.decode())
    seconds, usage, out = best
    cpu = usage.ru_utime + usage.ru_stime
    return f"{seconds:.2f} s, {cpu:.2f} s of CPU, {usage.ru_maxrss / 1024:.0f} MB", out


QUERY = {
    "DuckDB": """
import duckdb, sys
duckdb.sql("set enable_progress_bar = false")
print(len(duckdb.sql(f'''
    select device, program, kernel, "commit", min(committed) as moment, median("gpu__time_duration.sum") as ns
    from read_parquet('{sys.argv[1]}/**/*.parquet', hive_partitioning = true, union_by_name = true)
    group by all order by moment''').fetchall()))
""",
    "polars": """
import polars, sys
frame = polars.scan_parquet(f"{sys.argv[1]}/**/*.parquet", hive_partitioning=True)
print(frame.group_by("device", "program", "kernel", "commit")
    .agg(polars.col("committed").min(), polars.col("gpu__time_duration.sum").median())
    .sort("committed").collect().height)
""",
}


def check_scale(folder):
    for number, of_a_profile in enumerate((1000, 100)):
        place = folder / f"scale-{number}"
        place.mkdir()
        store = made_up(place, LAUNCHES, of_a_profile)
        words = [ADOPROF, "history", "--store", str(store), "--format", "csv"]
        took, out = timed(words)
        rows = len(out.splitlines()) - 1
        profiles = LAUNCHES // of_a_profile
        assert rows == 10 * profiles, rows
        jumped = [line for line in out.splitlines() if line.endswith("true")]
        expected = f"{profiles * 2 // 3:040x}"
        assert profiles < 10 or len(jumped) == 10 and all(expected in line for line in jumped), jumped
        print(f"    adoprof history: {took}; {len(jumped)} of 10 kernels jumped, all at the commit that slowed")
        for name, query in QUERY.items():
            took, out = timed([sys.executable, "-c", query, str(store)])
            assert int(out) == rows, (name, out)
            print(f"    {name}: {took}")
        shutil.rmtree(place)


def check_tools(folder):
    """Names that adoprof made are columns elsewhere, and what DuckDB writes adoprof reads."""
    store = folder / "tools"
    run("add", "v1", "v2", "v3", "--commit", "one", "--store", str(store))
    row = duckdb.sql(
        f"select gpu, program, device, round(time_ns) from read_parquet('{store}/**/*.parquet', hive_partitioning = true,"
        " union_by_name = true) order by profile"
    ).fetchall()
    assert {line[0] for line in row} == {"nvidia-h200"} and {line[2] for line in row} == {"NVIDIA H200"}, row
    assert {line[1] for line in row} == {"ado-v1", "ado-v2", "ado-v3"}, row
    frame = polars.scan_parquet(store / "**/*.parquet", hive_partitioning=True, missing_columns="insert", extra_columns="ignore").collect()
    assert set(frame["gpu"]) == {"nvidia-h200"} and frame.height == len(row)
    before = run("--format", "csv", "--store", str(store))
    together = folder / "together"
    together.mkdir()
    duckdb.sql(
        f"copy (select * from read_parquet('{store}/**/*.parquet', hive_partitioning = false, union_by_name = true))"
        f" to '{together}/all.parquet' (format parquet, compression zstd)"
    )
    assert run("--format", "csv", "--store", str(together)) == before
    duckdb.sql(f"copy (select 1 as a) to '{together}/other.parquet' (format parquet)")
    said = subprocess.run([ADOPROF, "history", "--store", together], capture_output=True, text=True).stderr
    assert "left out:" in said and "other.parquet" in said, said
    print("  DuckDB and polars read the folders; one file that DuckDB made of all reads the same; other tables are left out")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, check in (
            ("a bucket", check_bucket),
            ("pages", check_pages),
            ("other tools", check_tools),
            (f"{LAUNCHES} launches", check_scale),
        ):
            print(what, flush=True)
            own = folder / what.replace(" ", "-")
            own.mkdir()
            check(own)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"check-store: all well ({children.ru_utime:.0f} s of CPU)")


main()
