# SPDX-License-Identifier: BSD-3-Clause
"""Reads what apexshim bench and apexshim report have written, and judges it by its own arithmetic.

    bench_check.py figures JSON       medians, gains, signs follow from the runs
    bench_check.py page HTML JSON     the page needs nothing else, is well-formed, has the same figures
    bench_check.py schema SCHEMA FILE the file is as the schema says
    bench_check.py says JSON EXPRESSION   of the file, as b, with v[NAME] for its variants"""
import html.parser
import json
import math
import re
import statistics
import sys


def close(a, b):
    return a is b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9))


def check_spread(spread, values, what):
    values = [x for x in values if x is not None]
    assert spread["runs"] == len(values), what
    if not values:
        assert spread["median"] is None, what
        return
    quartiles = (statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1
                 else values * 3)
    for key, value in (("low", quartiles[0]), ("median", statistics.median(values)),
                       ("high", quartiles[2]), ("least", min(values)), ("most", max(values))):
        assert close(spread[key], value), f"{what}: {key} is {spread[key]}, not {value}"


def check_signs(signs, base, own, what):
    pairs = [(a, b) for a, b in zip(base, own) if a is not None and b is not None]
    less, more = sum(b < a for a, b in pairs), sum(b > a for a, b in pairs)
    n = less + more
    p = min(1, 2 * sum(math.comb(n, i) for i in range(min(less, more) + 1)) / 2 ** n)
    assert (signs["faster"], signs["slower"], signs["equal"]) == (less, more, len(pairs) - n), what
    assert close(signs["p"], p), f"{what}: p is {signs['p']}, not {p}"


def figures(path):
    b = json.load(open(path))
    assert b["schema"] == "apexshim-bench-1"
    base = b["variants"][0]
    for v in b["variants"]:
        of = {}
        for key in ("wall", "gpu"):
            def costs(variant, key=key):
                return [None if r[key + "_seconds"] is None else
                        r[key + "_seconds"] / (r["seen"] if b["times_of"] == "gemm" else 1)
                        for r in variant["runs"]]
            timed = next((x for x in b["variants"] if any(costs(x))), base)
            other = timed if key == "gpu" else base
            own = costs(v)
            of[key] = own
            check_spread(v[key], own, f"{v['name']}, {key}")
            check_signs(v[key + "_signs"], costs(other), own, f"{v['name']}, {key}")
            if any(own) and any(costs(other)):
                gain = statistics.median(costs(other)) / statistics.median(own)
                assert close(v[key + "_gain"], gain), f"{v['name']}: gain {v[key + '_gain']}"
        for name, metric in v["metrics"].items():
            last = [(r["metrics"][name]["values"] or [None])[-1] for r in v["runs"]]
            check_spread(metric["last"], last, f"{v['name']}, {name}")
            first = base["metrics"][name]["last"]["median"]
            if last and last[0] is not None and first:
                assert close(metric["difference"], (metric["last"]["median"] - first) / abs(first))
    for r in (r for v in b["variants"] for r in v["runs"]):
        assert r["converted"] + r["forwarded"] == r["seen"]


class Page(html.parser.HTMLParser):
    EMPTY = {"meta", "link", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.tables, self.table, self.bars, self.curves = [], {}, None, [], 0
        self.scripts, self.text = 0, ""

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        for key in ("src", "href", "xlink:href"):
            assert a.get(key, "data:").startswith("data:"), f"the page needs {a[key]}"
        assert not any(key.startswith("on") for key in a), f"a handler in {tag}"
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.scripts += tag == "script"
        if tag == "table":
            self.table = self.tables.setdefault(a["id"], [])
        elif tag == "tr":
            self.table.append([])
        elif tag in ("td", "th"):
            self.table[-1].append([a.get("data-v"), ""])

    def handle_startendtag(self, tag, attributes):
        a = dict(attributes)
        if tag == "rect":
            self.bars.append(float(a["width"]))
        self.curves += tag == "polyline"

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.table[-1][-1][1] += data


def page(path, json_path):
    text, b = open(path, encoding="utf-8").read(), json.load(open(json_path))
    assert text.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?://|@import|url\(", text), "the page names an address"
    assert "prefers-color-scheme:dark" in text and "width=device-width" in text
    p = Page()
    p.feed(text)
    p.close()
    assert p.open == [], f"left open: {p.open}"
    assert p.scripts == (1 if b["sites"] else 0), f"{p.scripts} scripts"
    medians = []
    for key in ("gpu", "wall"):
        if key not in p.tables:
            assert all(v[key]["median"] is None for v in b["variants"])
            continue
        rows = p.tables[key][1:]
        assert [r[0][1] for r in rows] == [v["name"] for v in b["variants"]]
        for row, v in zip(rows, b["variants"]):
            if v[key]["median"] is None:
                assert row[2][1] == "-"
                continue
            for cell, field in ((2, "median"), (3, "low"), (4, "high")):
                assert close(float(row[cell][0]), v[key][field]), f"{key}, {v['name']}: {field}"
            number, unit = row[2][1].split()
            shown = float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]
            assert math.isclose(shown, v[key]["median"], rel_tol=2e-2), row[2]
        known = [v[key] for v in b["variants"] if v[key]["median"] is not None]
        medians += [(s["median"], max(x["high"] for x in known)) for s in known]
    assert len(p.bars) == len(medians)
    for width, (median, most) in zip(p.bars, medians):
        assert abs(width - 430 * median / most) < 0.02, f"a bar of {width}"
    names = list(b["variants"][0]["metrics"])
    for i, name in enumerate(names):
        for row, v in zip(p.tables[f"metric{i}"][1:], b["variants"]):
            last = v["metrics"][name]["last"]["median"]
            if last is not None:
                assert math.isclose(float(row[1][1]), last, rel_tol=1e-8), f"{name}: {row}"
    assert len(p.tables.get("sites", [[]])) - 1 == len(b["sites"])
    for row, site in zip(p.tables.get("sites", [[]])[1:], b["sites"]):
        for i, v in enumerate(b["variants"]):
            own = site["variants"].get(v["name"])
            if own and own["gpu_seconds"] is not None:
                assert close(float(row[4 + 2 * i][0]), own["gpu_seconds"])
    for word in b["command"]:
        assert word in p.text, f"the page lacks {word}"
    assert ("modelled" in p.text) == b["gpu_times_modelled"]


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float), "null": type(None)}


def schema(rule, value, where="the file"):
    if "const" in rule:
        assert value == rule["const"], f"{where} is {value!r}"
    if "enum" in rule:
        assert value in rule["enum"], f"{where} is {value!r}"
    if "type" in rule:
        types = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
        assert any(isinstance(value, TYPES[t]) and (t == "boolean" or not isinstance(value, bool))
                   for t in types), f"{where} is {value!r}, not {types}"
    if "minimum" in rule and value is not None:
        assert value >= rule["minimum"], f"{where} is {value}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            schema(rule.get("items", {}), item, f"{where}[{i}]")
    if isinstance(value, dict):
        for key in rule.get("required", []):
            assert key in value, f"{where} lacks {key}"
        for key, item in value.items():
            other = rule.get("additionalProperties", {})
            assert key in rule.get("properties", {}) or other is not False, f"{where} has {key}"
            schema(rule.get("properties", {}).get(key, other), item, f"{where}.{key}")


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "figures":
        figures(*arguments)
    elif what == "page":
        page(*arguments)
    elif what == "schema":
        schema(*(json.load(open(name)) for name in arguments))
    else:
        b = json.load(open(arguments[0]))
        assert eval(arguments[1], {"b": b, "v": {v["name"]: v for v in b["variants"]}}), \
            f"not so: {arguments[1]}"


try:
    main()
except AssertionError as error:
    sys.exit(f"bench_check: {error}")
