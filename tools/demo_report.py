# SPDX-License-Identifier: BSD-3-Clause
"""Compares the two runs of tools/demo: prints them side by side, writes JSON, and fails when they
did not learn the same or when the counts of the shim are not those of the software GPU.

    demo_report.py FOLDER gpu|softgpu [JSON]

FOLDER holds what the runs left: off.out, on.out, on.err, and from the software GPU off.counts and
on.counts; NAME.seconds where the time was taken."""
import json
import os
import re
import statistics
import sys

MOST_LOSS = 2.6
MOST_DIFFERENCE = 0.02
SUMMARY = re.compile(
    r"^apexshim\[\d+\]: GEMMs seen=(?P<seen>\d+) converted=(?P<converted>\d+) "
    r"\((?P<paths>[^)]*)\) forwarded=(?P<forwarded>\d+)(?: \((?P<reasons>[^)]*)\))?",
    re.MULTILINE)
# The software GPU's words for the operand types of the shim's paths.
TYPE_OF_PATH = {"fp16": "f16"}


class Wrong(Exception):
    """What the runs left cannot be read."""


def read(folder, name):
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise Wrong(f"{name}: {error.strerror}") from error


def read_run(folder, name):
    """The losses, step times, validation loss, device and sample of a run."""
    text = read(folder, name + ".out")
    steps = re.findall(r"^step (\d+) loss (\S+) time (\S+) ms$", text, re.MULTILINE)
    validation = re.search(r"^val_loss (\S+)$", text, re.MULTILINE)
    if not steps or not validation:
        raise Wrong(f"the trainer printed no losses ({name})")
    device = re.search(r"^device (.*)$", text, re.MULTILINE)
    run = {
        "val_loss": float(validation.group(1)),
        "losses": [float(loss) for _, loss, _ in steps],
        "step_ms": statistics.median(float(time) for _, _, time in steps),
        "device_name": device.group(1) if device else "",
        "sample": text.partition("\nsample:\n")[2].rstrip("\n"),
    }
    if os.path.exists(os.path.join(folder, name + ".seconds")):
        run["seconds"] = int(read(folder, name + ".seconds"))
    return run


def read_summary(folder):
    """The shim's counts, from its line at exit."""
    found = SUMMARY.search(read(folder, "on.err"))
    if not found:
        return None
    gemms = {key: int(found.group(key)) for key in ("seen", "converted", "forwarded")}
    for key in ("paths", "reasons"):
        pairs = (pair.partition("=") for pair in (found.group(key) or "").split())
        gemms[key] = {word: int(count) for word, _, count in pairs}
    return gemms


def read_counts(folder, name):
    """GEMMs that the software GPU executed, by operand type."""
    try:
        counts = json.loads(read(folder, name + ".counts"))
    except ValueError as error:
        raise Wrong(f"{name}.counts: {error}") from error
    executed = {"f16": 0, "tf32": 0, "f32": 0}
    for key, count in counts.items():
        kind = re.fullmatch(r"gemm\.(\w+)", key)
        if kind:
            executed[kind.group(1)] = count
    return executed


def difference(a, b):
    return abs(a - b) / abs(a) if a else float("inf")


def last_tenth(losses):
    return statistics.fmean(losses[-max(1, len(losses) // 10):])


def judge_losses(off, on):
    problems = []
    if len(off["losses"]) != len(on["losses"]):
        return [f"{len(off['losses'])} steps without the preload, {len(on['losses'])} with it"]
    for what, a, b in (
            ("first loss", off["losses"][0], on["losses"][0]),
            ("mean loss of the last steps", last_tenth(off["losses"]), last_tenth(on["losses"])),
            ("validation loss", off["val_loss"], on["val_loss"])):
        if not difference(a, b) <= MOST_DIFFERENCE:
            problems.append(f"the {what} differs by more than {MOST_DIFFERENCE:.0%}: {a} and {b}")
    for name, run in (("without", off), ("with", on)):
        if not run["val_loss"] <= MOST_LOSS:
            problems.append(f"the validation loss {name} the preload is over {MOST_LOSS}: "
                            f"{run['val_loss']}")
    if off["val_loss"] == on["val_loss"]:
        problems.append("both validation losses are equal in bits: nothing was computed otherwise")
    return problems


def judge_gemms(gemms, executed, plain):
    """executed, plain: what the software GPU ran with and without the preload, or None."""
    if gemms is None:
        return ["the shim printed no summary: nothing was intercepted"]
    if gemms["seen"] == 0:
        return ["nothing was intercepted"]
    problems = []
    if gemms["converted"] == 0:
        problems.append("nothing was converted")
    if sum(gemms["paths"].values()) != gemms["converted"]:
        problems.append("the shim's counts by path do not add up to converted")
    if gemms["converted"] + gemms["forwarded"] != gemms["seen"]:
        problems.append("the shim's counts of converted and forwarded do not add up to seen")
    if executed is not None:
        said = {TYPE_OF_PATH.get(path, path): count for path, count in gemms["paths"].items()}
        said["f32"] = gemms["forwarded"]
        for kind in sorted(set(said) | set(executed)):
            if said.get(kind, 0) != executed.get(kind, 0):
                problems.append(f"the software GPU executed {executed.get(kind, 0)} GEMMs of type "
                                f"{kind}, the shim says {said.get(kind, 0)}")
        if sum(plain.values()) != gemms["seen"]:
            problems.append(f"without the preload the software GPU executed {sum(plain.values())} "
                            f"GEMMs, the shim has seen {gemms['seen']}")
    return problems


def print_table(off, on, gemms, executed, times):
    def row(title, a, b, note=""):
        print(f"{title:<28}{a:>16}{b:>16}  {note}".rstrip())

    print()
    row("", "without preload", "with preload")
    steps = min(len(off["losses"]), len(on["losses"]))
    shown = sorted({1, steps} | {round(steps * part) for part in (0.1, 0.25, 0.5, 0.75)} - {0})
    for step in shown:
        row(f"loss, step {step}", f"{off['losses'][step - 1]:.5f}", f"{on['losses'][step - 1]:.5f}")
    row("validation loss", f"{off['val_loss']:.6f}", f"{on['val_loss']:.6f}",
        f"differs by {difference(off['val_loss'], on['val_loss']):.3%}")
    row(f"time per step, {times}", f"{off['step_ms']:.3f} ms", f"{on['step_ms']:.3f} ms")
    if "seconds" in off and "seconds" in on:
        row("whole run, on this machine", f"{off['seconds']} s", f"{on['seconds']} s")
    print()
    if gemms:
        share = gemms["converted"] / gemms["seen"] if gemms["seen"] else 0
        paths, why = (", ".join(f"{word} {count}" for word, count in gemms[key].items())
                      for key in ("paths", "reasons"))
        print(f"GEMMs seen {gemms['seen']}: converted {gemms['converted']} ({share:.1%}; {paths}), "
              f"forwarded {gemms['forwarded']}{' (' + why + ')' if why else ''}")
    if executed:
        print("GEMMs that the software GPU executed: " +
              ", ".join(f"{kind} {count}" for kind, count in executed.items()))
    if on["sample"]:
        print("Written by the model with the preload:")
        for line in on["sample"].splitlines():
            print("    " + line)


def main():
    folder, device = sys.argv[1:3]
    times = "modelled" if device == "softgpu" else "measured"
    try:
        off, on = read_run(folder, "off"), read_run(folder, "on")
        gemms = read_summary(folder)
        executed = plain = None
        if device == "softgpu":
            plain, executed = read_counts(folder, "off"), read_counts(folder, "on")
    except Wrong as wrong:
        sys.exit(f"demo: {wrong}")
    problems = judge_losses(off, on) + judge_gemms(gemms, executed, plain)
    print_table(off, on, gemms, executed, times)
    if len(sys.argv) > 3:
        result = {
            "device": device, "device_name": on.pop("device_name"), "times": times,
            "off": {**off, "gemms": plain}, "on": on, "gemms": gemms, "executed": executed,
            "passed": not problems, "problems": problems,
        }
        result["off"].pop("device_name")
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    for problem in problems:
        print(f"demo: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print("Both runs learned the same.")


if __name__ == "__main__":
    main()
