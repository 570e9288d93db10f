"""Whether alerts and dashboards ask for what /metrics has, and whether each is complete.

    queries.py --metrics FILE --rules FILE --dashboards FILE... --runbook FILE [--write-test FOLDER]

FILE of --metrics is Prometheus' text format. Every name in a query must be in it or be recorded by a rule, every label of
a matcher must be one of that metric's, and every state, kind, event or direction that is asked for must be there.
--write-test writes into FOLDER, for promtool: queries.json, the dashboards' queries as rules with variables filled in; and
queries.test.json, a test of them beside the alerts (alerts.yaml in FOLDER) on three daemons that have all the metrics.
Every query must have an answer there. Exit status 1 with a line for each mistake.
"""

import argparse
import json
import re
import sys

import yaml

# What Prometheus itself adds, or a histogram's buckets have.
OTHER_LABELS = {"job", "instance", "le", "alertname"}
# The values of these are all there from the start.
COMPLETE_LABELS = {"state", "event", "direction", "kind"}
SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# Names of metrics, and of what the rules record: those have colons.
SELECTOR = re.compile(r"(?<![\w:])((?:\w+:)?(?:upcast|process)_[\w:]+)\s*(?:\{([^}]*)\})?")
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
    if not found and not re.search(r"\b(up|ALERTS)\{", query):
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
    """Adds what the rules record to the metrics."""
    alerts, pages = [], set()
    rules = [rule for group in yaml.safe_load(open(path, encoding="utf-8"))["groups"] for rule in group["rules"]]
    for rule in rules:
        if name := rule.get("record"):
            if name in metrics:
                mistake(name, "is there twice")
            # The name begins with the labels that are left.
            metrics[name] = {label: set() for label in name.partition(":")[0].split("_")}
    for rule in rules:
        if "record" in rule:
            check_query(rule["record"], rule["expr"], metrics)
        else:
            name = rule["alert"]
            alerts.append(name)
            check_query(name, rule["expr"], metrics)
            annotations = rule.get("annotations", {})
            for needed in ("summary", "description", "runbook_url"):
                if not annotations.get(needed):
                    mistake(name, f"has no {needed}")
            if rule.get("labels", {}).get("severity") not in ("critical", "warning", "info"):
                mistake(name, "has no severity")
            page, _, anchor = annotations.get("runbook_url", "").partition("#")
            pages.add(page)
            if anchor != name.lower() or anchor not in anchors(runbook):
                mistake(name, f"{runbook} has no section for it")
    for name in {name for name in alerts if alerts.count(name) > 1}:
        mistake(name, "is there twice")
    # Absolute, and one place to replace.
    if len(pages) != 1 or not all(page.startswith("https://") for page in pages):
        mistake(path, f"runbook_url names these pages: {', '.join(sorted(pages))}")
    for name in anchors(runbook):
        if name.startswith("upcast") and name not in {alert.lower() for alert in alerts} | {"upcast"}:
            mistake(runbook, f"#{name} is a section of no alert")
    return alerts


def filled(query):
    """A dashboard's query as Grafana would send it."""
    for variable, value in {"$__rate_interval": "1m", "$__interval": "15s", "$__range": "30m", "$job": "upcast", "$instance": ".*"}.items():
        query = query.replace(variable, value)
    return query


def check_variables(where, text, variables):
    for variable in re.findall(r"\$\{?(\w+)", text):
        if not variable.startswith("__") and variable not in variables:
            mistake(where, f"there is no variable ${variable}")


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
        # Links to a daemon's page, and to other dashboards.
        check_variables(panel["title"], json.dumps(panel["fieldConfig"]), variables)
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
            check_variables(panel["title"], query, variables)
            check_query(panel["title"], filled(query), metrics)
    for annotation in dashboard["annotations"]["list"]:
        if "expr" in annotation:
            queries.append(annotation["expr"])
            check_query(annotation["name"], filled(annotation["expr"]), metrics)
    return panels, queries


# In which states the daemons of a test are, and what one of them has turned off; a is as the file says.
DAEMONS = {
    "a:9180": {},
    "b:9180": {"upcast_air_state": "off_air", "upcast_destination_state": "failed", "upcast_state": "reconnecting"},
    "c:9180": {"upcast_air_state": "hidden", "upcast_protection_on": "secure_regions"},
}


def value_of(name, labels, value, chosen):
    """A counter rises; of the states of a daemon one is 1; panels leave zeros out, so other gauges are 1."""
    if re.search("_(total|bucket|sum|count)$", name):
        return "0+30x160"
    if name in chosen:
        label = f'"{chosen[name]}"'
        return f"{int(label in labels)}x160"
    return "1x160" if value == "0" and "state=" not in labels else f"{value}x160"


def series_of(metrics):
    """The series of these daemons, which have all the metrics."""
    series = []
    for instance, chosen in DAEMONS.items():
        mine = f'job="upcast",instance="{instance}"'
        series.append({"series": f"up{{{mine}}}", "values": "1x160"})
        for name, labels, value in metrics:
            all_labels = f"{mine},{labels}" if labels else mine
            series.append({"series": f"{name}{{{all_labels}}}", "values": value_of(name, labels, value, chosen)})
    return series


def samples(path):
    """(name, labels, value) of every sample of a file, and of every name without one."""
    found, seen = [], set()
    lines = open(path, encoding="utf-8").read().splitlines()
    for line in lines:
        if not line.startswith("#") and (sample := SAMPLE.match(line)):
            found.append((sample[1], sample[2] or "", line.rpartition(" ")[2]))
            seen.add(re.sub("_(bucket|sum|count)$", "", sample[1]))
    types = [line.split() for line in lines if line.startswith("# TYPE ")]
    return found + [(words[2], "", "1") for words in types if words[2] not in seen]


def write_test(folder, queries, metrics):
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
    with open(f"{folder}/queries.json", "w", encoding="utf-8") as file:
        json.dump({"groups": [{"name": "dashboards", "rules": rules}]}, file)
    # Evaluated, a query can fail that can be parsed: labels that match more than one series. Without an answer, a panel
    # is empty; except where something must have gone wrong first.
    answered = [
        {"expr": f"absent(query:{number})", "eval_time": "35m", "exp_samples": []} for number in range(len(queries))
    ]
    test = {"interval": "15s", "input_series": series_of(metrics), "promql_expr_test": answered}
    with open(f"{folder}/queries.test.json", "w", encoding="utf-8") as file:
        json.dump({"rule_files": ["alerts.yaml", "queries.json"], "evaluation_interval": "15s", "tests": [test]}, file)


def main():
    parser = argparse.ArgumentParser()
    for option in ("--metrics", "--rules", "--runbook"):
        parser.add_argument(option, required=True)
    parser.add_argument("--dashboards", nargs="+", required=True)
    parser.add_argument("--write-test")
    options = parser.parse_args()
    metrics = read_metrics(options.metrics)
    if not metrics:
        sys.exit(f"{options.metrics} holds no metrics")
    alerts = check_rules(options.rules, options.runbook, metrics)
    panels, queries = 0, []
    for path in options.dashboards:
        found, asked = check_dashboard(path, metrics)
        panels += len(found)
        queries += [filled(query) for query in asked]
    if options.write_test:
        write_test(options.write_test, queries, samples(options.metrics))
    if mistakes:
        sys.exit("\n".join(mistakes))
    print(
        f"{len(alerts)} alerts, {len(options.dashboards)} dashboards, {panels} panels with {len(queries)} queries, "
        f"{len(metrics)} names"
    )


main()
