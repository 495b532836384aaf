"""What adoprof writes, read by other tools. scripts/check-formats prepares them and runs this."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb
import jsonschema
import pandas
import polars

ADOPROF, VALIDATOR = sys.argv[1:3]
SCHEMAS = pathlib.Path("docs")
LONGEST_COMMENT = 65_536

# Each command that runs without a device, with the schema of its JSON.
JSON = [
    ("adoprof-1.schema.json", "step --kernel v2 --recorded"),
    ("adoprof-1.schema.json", "step --kernel v3 --recorded --baseline v2 --explain-ranking"),
    ("adoprof-1.schema.json", "analyze matmul/m1"),
    ("schema/profiles.json", "analyze v1 v2 reduce/r3"),
    ("schema/run.json", "run --ladder ado --recorded"),
    ("schema/diff.json", "diff v1 v2"),
    ("schema/limiter.json", "limiter --kernel v2 --recorded"),
    ("schema/bench.json", "bench"),
    ("schema/ledger.json", "ledger"),
    ("schema/explain.json", "explain"),
    ("schema/explain.json", "explain small-copies"),
    ("schema/ladders.json", "ladder list"),
    ("schema/ladders.json", "ladder list --faults"),
    ("schema/ladder-check.json", "ladder check kernels/ado"),
    ("schema/rules.json", "rules list"),
    ("schema/rules-check.json", "rules check tests/fixtures/rules"),
    ("schema/rules-metrics.json", "rules metrics --of v2"),
    ("schema/doctor.json", "doctor"),
    ("schema/config.json", "config"),
]
SARIF = [
    "step --kernel v2 --recorded",
    "analyze v1 v2 v3",
    "run --ladder matmul --recorded",
    "diff v1 v2",
]
MARKDOWN = ["run --ladder ado --recorded", "diff v1 v5", "bench", "analyze v1 v2 v3 v4 v5 reduce/r0 reduce/r3"]
TABLES = ["launches", "metrics", "ncu-rules", "lines", "instructions"]


def adoprof(words, codes=(0,), **more):
    """What a command prints."""
    run = subprocess.run([ADOPROF, *words], capture_output=True, env=os.environ | {"CUDA_VISIBLE_DEVICES": ""}, **more)
    assert run.returncode in codes, f"{words}: {run.returncode}: {run.stderr.decode()}"
    return run.stdout.decode()


def check_json():
    for name, line in JSON:
        schema = json.loads((SCHEMAS / name).read_text())
        validator = jsonschema.Draft202012Validator(schema)
        validator.check_schema(schema)
        # Without a GPU, doctor ends with 3: something is missing.
        codes = (0, 3) if line == "doctor" else (0,)
        document = json.loads(adoprof(line.split() + ["--format", "json"], codes))
        errors = list(validator.iter_errors(document))
        assert not errors, f"{line}: {errors[0].json_path}: {errors[0].message}"
        if name != "schema/diff.json":
            assert re.fullmatch(r"\d+\.\d+\.\d+.*", document["adoprof"]), line
            # A schema that accepts anything would show nothing.
            document["schema"] = 1
            assert not validator.is_valid(document), f"{name} accepts a number as `schema`"
        print(f"  {line}: valid by docs/{name}")


def check_sarif(folder):
    environment = os.environ | {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    for at, line in enumerate(SARIF):
        path = folder / f"{at}.sarif"
        path.write_text(adoprof(line.split() + ["--format", "sarif"]))
        run = subprocess.run([VALIDATOR, "validate", path], capture_output=True, text=True, env=environment)
        said = [text for text in run.stdout.splitlines() if re.search(r": (error|warning) ", text)]
        assert run.returncode == 0 and not said, f"{line}: {run.stdout}{run.stderr}"
        results = json.loads(path.read_text())["runs"][0]["results"]
        prints = [result["partialFingerprints"]["adoprof/v1"] for result in results]
        assert results and len(set(prints)) == len(prints), f"{line}: a fingerprint stands twice"
        print(f"  {line}: {len(results)} results, valid")
        # The validator does not look at words that have a list.
        assert {result["level"] for result in results} <= {"none", "note", "warning", "error"}, line
    # The validator must be able to say no.
    broken = json.loads((folder / "0.sarif").read_text())
    del broken["runs"][0]["results"][0]["message"]
    (folder / "broken.sarif").write_text(json.dumps(broken))
    run = subprocess.run([VALIDATOR, "validate", folder / "broken.sarif"], capture_output=True, text=True, env=environment)
    assert ": error JSON1002: " in run.stdout, "the validator accepts a result without a message"


def check_markdown():
    for line in MARKDOWN:
        text = adoprof(line.split() + ["--format", "markdown"])
        assert len(text) <= LONGEST_COMMENT, f"{line}: {len(text)} characters"
        assert text.count("<details>") == text.count("</details>"), line
        print(f"  {line}: {len(text)} characters")


def same(a, b):
    """Equal values; no value is None in one tool and NaN in another."""
    missing = [value is None or isinstance(value, float) and math.isnan(value) for value in (a, b)]
    return all(missing) or a == b


def check_tables(folder):
    paths = ["v2", "reduce/r3"]
    for form in ("csv", "parquet"):
        adoprof(["frames", *paths, "--format", form, "-o", str(folder / form)])
    for table in TABLES:
        csv, parquet = (folder / form / f"{table}.{form}" for form in ("csv", "parquet"))
        by_polars = polars.read_parquet(parquet)
        by_pandas = pandas.read_parquet(parquet)
        by_duckdb = duckdb.sql(f"select * from '{parquet}'")
        size = by_polars.shape
        assert size == by_pandas.shape == (len(by_duckdb.fetchall()), len(by_duckdb.columns)), table
        assert by_polars.columns == list(by_pandas.columns) == by_duckdb.columns, table
        assert size[0] > 0, f"{table} is empty"
        assert set(by_polars["profile"]) == {"ado/v2", "reduce/r3"}, set(by_polars["profile"])
        for ours, theirs in ((by_pandas.itertuples(index=False), by_duckdb.fetchall()),):
            for left, right in zip(ours, theirs):
                assert all(map(same, left, right)), f"{table}: {left} is not {right}"
        # CSV has no types: read with Parquet's, every value must be the same.
        kinds = {"String": str, "UInt32": "UInt32", "UInt64": "UInt64", "Float64": "float64", "Boolean": "boolean"}
        types = {name: kinds[str(kind)] for name, kind in by_polars.schema.items()}
        from_csv = pandas.read_csv(csv, dtype=types, keep_default_na=False, na_values={name: [""] for name in types})
        for name in by_polars.columns:
            left, right = from_csv[name].tolist(), by_polars[name].to_list()
            for a, b in zip(left, right, strict=True):
                a = None if a is pandas.NA else a
                # An empty text and no text are the same in CSV.
                assert same(a, b) or (b == "" and same(a, None)), f"{table}.{name}: {a!r} is not {b!r}"
        assert polars.read_csv(csv, infer_schema=False).shape == size, table
        assert len(duckdb.sql(f"select * from read_csv('{csv}', all_varchar=true)").fetchall()) == size[0], table
        print(f"  {table}: {size[0]} rows, {size[1]} columns, the same in pandas, polars and DuckDB")
    answer = duckdb.sql(
        f"select value from '{folder}/parquet/metrics.parquet' "
        "where profile = 'ado/v2' and metric = 'launch__block_size'"
    ).fetchall()
    assert answer and answer[0][0] == 1024.0, answer


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, check in (
            ("JSON", check_json),
            ("SARIF", lambda: check_sarif(folder)),
            ("Markdown", check_markdown),
            ("tables", lambda: check_tables(folder)),
        ):
            print(what)
            check()


main()
