"""Whether alerts and dashboard ask for what /metrics has, and whether each is complete.

    queries.py --metrics FILE --rules FILE --dashboard FILE --runbook FILE [--write-queries FILE]

FILE of --metrics is Prometheus' text format. Every name in a query must be in it, every label of a matcher must be one
of that metric's, and every state, event or direction that is asked for must be there. --write-queries writes the
dashboard's queries as rules, variables filled in, so that promtool can parse them. Exit status 1 with a line for each
mistake.
"""

import argparse
import json
import re
import sys

import yaml

# What Prometheus itself adds, or a histogram's buckets have.
OTHER_LABELS = {"job", "instance", "le"}
# The values of these are all there from the start.
COMPLETE_LABELS = {"state", "event", "direction"}
SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
SELECTOR = re.compile(r"\b(upcast_\w+)\s*(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")

mistakes = []


def mistake(where, text):
    mistakes.append(f"{where}: {text}")


def read_metrics(path):
    """{name: {label: {values}}} of everything in a file of the text format."""
    metrics = {}
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if line.startswith("# TYPE ") and len(words) == 4:
            suffixes = ("_bucket", "_sum", "_count") if words[3] == "histogram" else ("",)
            for suffix in suffixes:
                metrics.setdefault(words[2] + suffix, {})
        elif not line.startswith("#") and (sample := SAMPLE.match(line)):
            labels = metrics.setdefault(sample[1], {})
            for label, value in LABEL.findall(sample[2] or ""):
                labels.setdefault(label, set()).add(value)
    # The parts of one histogram have the same labels, whichever of them a file shows.
    for name in list(metrics):
        if name.endswith("_bucket"):
            for suffix in ("_sum", "_count"):
                for label, values in metrics[name].items():
                    metrics.setdefault(name.removesuffix("_bucket") + suffix, {}).setdefault(label, set()).update(values)
    return metrics


def check_query(where, query, metrics):
    found = SELECTOR.findall(re.sub(GROUPING, "", query))
    if not found and "up{" not in query:
        mistake(where, f"asks for no metric of upcastd's: {query}")
    known = set(OTHER_LABELS)
    for name, matchers in found:
        if name not in metrics:
            mistake(where, f"{name} is not in the metrics")
            continue
        known |= set(metrics[name])
        for label, operator, value in MATCHER.findall(matchers):
            if label not in OTHER_LABELS and label not in metrics[name]:
                mistake(where, f"{name} has no label {label}")
            if label in COMPLETE_LABELS and operator in ("=", "=~"):
                for word in value.split("|") if operator == "=~" else [value]:
                    if not any(re.fullmatch(word, there) for there in metrics[name].get(label, ())):
                        mistake(where, f'{name} is never {label}="{word}"')
    for labels in GROUPING.findall(query):
        for label in filter(None, (label.strip() for label in labels.split(","))):
            if label not in known:
                mistake(where, f"groups by {label}, which none of its metrics has")


def anchors(path):
    """Of every heading of a Markdown file, as web pages make them."""
    headings = re.findall(r"^#+ (.*)$", open(path, encoding="utf-8").read(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def check_rules(path, runbook, metrics):
    alerts = []
    for group in yaml.safe_load(open(path, encoding="utf-8"))["groups"]:
        for rule in group["rules"]:
            name = rule["alert"]
            alerts.append(name)
            check_query(name, rule["expr"], metrics)
            annotations = rule.get("annotations", {})
            for needed in ("summary", "description", "runbook_url"):
                if not annotations.get(needed):
                    mistake(name, f"has no {needed}")
            if rule.get("labels", {}).get("severity") not in ("critical", "warning", "info"):
                mistake(name, "has no severity")
            if annotations.get("runbook_url", "").partition("#")[2] not in anchors(runbook):
                mistake(name, f"{runbook} has no section for it")
    for name in {name for name in alerts if alerts.count(name) > 1}:
        mistake(name, "is there twice")
    return alerts


def filled(query):
    """A dashboard's query as Grafana would send it."""
    for variable, value in {"$__rate_interval": "1m", "$__interval": "15s", "$job": ".*", "$instance": ".*"}.items():
        query = query.replace(variable, value)
    return query


def check_dashboard(path, metrics):
    dashboard = json.load(open(path, encoding="utf-8"))
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    queries = []
    for number in {panel["id"] for panel in dashboard["panels"]}:
        if sum(panel["id"] == number for panel in dashboard["panels"]) > 1:
            mistake(path, f"two panels have the id {number}")
    cells = {}
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            mistake(panel["title"], "is wider than the page")
        for cell in [
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]:
            if cell in cells:
                mistake(panel["title"], f"lies over {cells[cell]}")
                break
            cells[cell] = panel["title"]
    for panel in panels:
        if not panel.get("description"):
            mistake(panel["title"], "has no description")
        letters = [target["refId"] for target in panel["targets"]]
        if len(letters) != len(set(letters)):
            mistake(panel["title"], "has two queries of the same letter")
        for target in panel["targets"]:
            query = target["expr"]
            queries.append(query)
            if target["datasource"]["uid"] != "${datasource}":
                mistake(panel["title"], "names a data source of one's own")
            for variable in re.findall(r"\$(\w+)", query):
                if not variable.startswith("__") and variable not in variables:
                    mistake(panel["title"], f"there is no variable ${variable}")
            check_query(panel["title"], filled(query), metrics)
    for annotation in dashboard["annotations"]["list"]:
        if "expr" in annotation:
            queries.append(annotation["expr"])
            check_query(annotation["name"], filled(annotation["expr"]), metrics)
    return panels, queries


def main():
    parser = argparse.ArgumentParser()
    for option in ("--metrics", "--rules", "--dashboard", "--runbook"):
        parser.add_argument(option, required=True)
    parser.add_argument("--write-queries")
    options = parser.parse_args()
    metrics = read_metrics(options.metrics)
    if not metrics:
        sys.exit(f"{options.metrics} holds no metrics")
    alerts = check_rules(options.rules, options.runbook, metrics)
    panels, queries = check_dashboard(options.dashboard, metrics)
    if options.write_queries:
        rules = [{"record": f"query:{number}", "expr": filled(query)} for number, query in enumerate(queries)]
        with open(options.write_queries, "w", encoding="utf-8") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
    if mistakes:
        sys.exit("\n".join(mistakes))
    print(f"{len(alerts)} alerts, {len(panels)} panels with {len(queries)} queries, {len(metrics)} names")


main()
