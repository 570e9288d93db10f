"""What no schema says about the manifests of Config/kubernetes.

    pods.py [--crd FILE] --reference FILE --dockerfile FILE MANIFEST...

Every pod must be one that the restricted pod security standard admits; every upcastd must have 50Mi, asked for and allowed
alike, a root that it cannot write, probes, and time to drain; and its variables must be in the reference of its
configuration. It runs as the user that its image has, and whoever shares its sockets runs as another: the daemon's user
may do everything at the control socket. With --crd, a CustomResourceDefinition, objects of its kind
are checked against its schema. Exit status 1 with a line for each mistake.
"""

import argparse
import re
import sys

import jsonschema
import yaml

# stop.drain_ms and buffer.delay_ms, in seconds, unless the pod sets others; and what closing takes.
DRAIN, DELAY, CLOSING = 3, 0, 2
NODE_LOCAL_DNS = "169.254.20.10/32"

mistakes = []
# Variables that upcastd knows.
reference = set()


def check(holds, where, text):
    if not holds:
        mistakes.append(f"{where}: {text}")


def environment(container):
    return {entry["name"]: entry.get("value", "") for entry in container.get("env", [])}


def check_container(where, container, pod):
    security = container.get("securityContext", {})
    check(security.get("allowPrivilegeEscalation") is False, where, "may escalate privileges")
    check(security.get("capabilities", {}).get("drop") == ["ALL"], where, "keeps capabilities")
    check(not security.get("capabilities", {}).get("add"), where, "adds capabilities")
    check(security.get("runAsNonRoot", pod.get("runAsNonRoot")) is True, where, "may run as root")
    check(security.get("runAsUser", 1) != 0, where, "runs as root")
    profile = security.get("seccompProfile", pod.get("seccompProfile", {})).get("type")
    check(profile in ("RuntimeDefault", "Localhost"), where, "has no seccomp profile")
    check(not security.get("privileged"), where, "is privileged")
    check(security.get("readOnlyRootFilesystem") is True, where, "can write its root")
    memory = container.get("resources", {})
    check("memory" in memory.get("limits", {}), where, "has no memory limit")


def check_upcastd(where, container, pod):
    resources = container["resources"]
    for kind in ("requests", "limits"):
        check(resources[kind]["memory"] == "50Mi", where, f"{kind} other memory than 50Mi")
    check("cpu" in resources["requests"], where, "requests no processor time")
    check("cpu" not in resources["limits"], where, "has its processor time throttled")
    for probe, path in {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}.items():
        asked = container.get(f"{probe}Probe", {}).get("httpGet", {})
        check(asked.get("path") == path, where, f"has no {probe} probe with httpGet {path}")
        check(asked.get("port") == "control", where, f"has a {probe} probe at another port than control")
    settings = environment(container)
    drain = int(settings.get("UPCAST_STOP_DRAIN_MS", DRAIN * 1000)) / 1000
    delay = int(settings.get("UPCAST_BUFFER_DELAY_MS", DELAY * 1000)) / 1000
    grace = pod.get("terminationGracePeriodSeconds", 30)
    check(grace >= drain + delay + CLOSING, where, f"is killed after {grace} s, before it can have drained")
    mounts = {mount["mountPath"] for mount in container.get("volumeMounts", [])}
    check("/run/upcast" in mounts, where, "has no place for its sockets")
    for variable, path in settings.items():
        if variable.endswith("_FILE"):
            # A mount can be the file itself (subPath).
            check(any(f"{path}/".startswith(f"{mount}/") for mount in mounts), where, f"{variable} is in no volume")
    for variable in settings:
        if variable.startswith("UPCAST_"):
            check(re.sub(r"_\d+_", "_0_", variable) in reference, where, f"{variable} is no key of the configuration")
    check("UPCAST_CONTROL_LISTEN" in settings, where, "does not listen where its probes ask")
    if "UPCAST_CONTROL_LISTEN" in settings:
        # The kubelet connects to the pod's address.
        host = settings["UPCAST_CONTROL_LISTEN"].rpartition(":")[0]
        check(host in ("0.0.0.0", "[::]"), where, f"listens at {host}, where no probe reaches it")
        check("UPCAST_CONTROL_TOKEN_FILE" in settings, where, "listens without a token")
        check("UPCAST_CONTROL_METRICS_TOKEN_FILE" in settings, where, "gives Prometheus the operator's token")
        port = int(settings["UPCAST_CONTROL_LISTEN"].rpartition(":")[2])
        named = {port["name"]: port["containerPort"] for port in container.get("ports", [])}
        check(named.get("control") == port, where, "has no port named control where it listens")


def image_users(path):
    """The user and group of each stage of a Dockerfile, as it writes them; empty where the stage has none."""
    users, stage = {}, None
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words[:1] == ["FROM"]:
            stage = words[3] if words[2:3] == ["AS"] else None
            users[stage] = users.get(words[1], "")
        elif words[:1] == ["USER"]:
            users[stage] = words[1]
    return users


def check_images(users):
    """The images' own users, which compose and a plain run have."""
    numbers = {}
    for stage in ("upcastd", "full", "client"):
        # A name says nothing to Kubernetes, which has to know that it is not root.
        match = re.fullmatch(r"([1-9]\d*):([1-9]\d*)", users.get(stage, ""))
        check(match, f"image {stage}", f"runs as {users.get(stage) or 'root'}, not as a user and a group by number")
        numbers[stage] = match.groups() if match else (None, None)
    (daemon, group), (client, client_group) = numbers["upcastd"], numbers["client"]
    check(numbers["full"] == numbers["upcastd"], "image full", "runs as another user than image upcastd")
    check(client != daemon, "image client", f"runs as the daemon's user, {daemon}, who is an operator")
    check(client_group == group, "image client", f"is not in the sockets' group, {group}")
    return daemon


def check_users(where, containers, daemon):
    """Whoever is beside upcastd in a pod."""
    for container in containers:
        user = container.get("securityContext", {}).get("runAsUser")
        if container["name"] == "upcastd":
            check(str(user) == daemon, where, f"upcastd runs as {user}, its image as {daemon}")
        elif any(mount["mountPath"] == "/run/upcast" for mount in container.get("volumeMounts", [])):
            check(user and str(user) != daemon, where, f"{container['name']} runs as the daemon's user, or says none")


def check_pod(where, pod, daemon):
    security = pod.get("securityContext", {})
    for host in ("hostNetwork", "hostPID", "hostIPC"):
        check(not pod.get(host), where, f"has {host}")
    check(pod.get("automountServiceAccountToken") is False, where, "holds a token for the cluster that it does not need")
    allowed = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
    volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
    for name, volume in volumes.items():
        check(set(volume) - {"name"} <= allowed, where, f"volume {name} is of a kind that restricted pods may not have")
    containers = pod.get("initContainers", []) + pod["containers"]
    for container in containers:
        name = f"{where}, {container['name']}"
        check_container(name, container, security)
        for mount in container.get("volumeMounts", []):
            check(mount["name"] in volumes, name, f"there is no volume {mount['name']}")
        if container["name"] == "upcastd":
            check_upcastd(name, container, pod)
    check_users(where, containers, daemon)
    check(any(container["name"] == "upcastd" for container in containers), where, "has no upcastd")


def check_selectors(where, item, pods):
    """What chooses pods must choose some."""
    spec = item["spec"]
    selector = spec.get("podSelector", spec.get("selector"))
    labels = selector.get("matchLabels", selector) if selector else {}
    check(any(labels.items() <= chosen.items() for chosen in pods), where, f"chooses no pod: {labels}")


def check_dns(where, spec):
    """Names must resolve wherever the cluster's DNS server is: in a pod, or on the node."""
    rules = [rule for rule in spec["egress"] if any(port["port"] == 53 for port in rule.get("ports", []))]
    check(len(rules) == 1, where, f"has {len(rules)} rules for DNS")
    for rule in rules:
        check({port["protocol"] for port in rule["ports"]} == {"UDP", "TCP"}, where, "lets DNS out by one protocol only")
        blocks = {peer["ipBlock"]["cidr"] for peer in rule["to"] if "ipBlock" in peer}
        labels = [peer["podSelector"]["matchLabels"] for peer in rule["to"] if "podSelector" in peer]
        check({"k8s-app": "kube-dns"} in labels, where, "does not let DNS out to CoreDNS")
        check(NODE_LOCAL_DNS in blocks, where, f"does not let DNS out to NodeLocal DNSCache, {NODE_LOCAL_DNS}")


def closed(schema):
    """The schema, so that it refuses properties that it does not name, as the API server drops them."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [closed(entry) for entry in schema]
    return schema


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--crd")
    parser.add_argument("--reference", required=True)
    parser.add_argument("--dockerfile", required=True)
    parser.add_argument("manifests", nargs="+")
    options = parser.parse_args()
    items = [item for path in options.manifests for item in yaml.safe_load_all(open(path, encoding="utf-8")) if item]
    templates = [item["spec"]["template"] for item in items if item["kind"] in ("Deployment", "StatefulSet", "DaemonSet")]
    reference.update(re.findall(r"`(UPCAST_\w+)`", open(options.reference, encoding="utf-8").read()))
    labels = [template["metadata"]["labels"] for template in templates]
    daemon = check_images(image_users(options.dockerfile))
    crd = yaml.safe_load(open(options.crd, encoding="utf-8")) if options.crd else None
    for item in items:
        where = f"{item['kind']} {item['metadata']['name']}"
        if item["kind"] in ("Deployment", "StatefulSet", "DaemonSet"):
            check_pod(where, item["spec"]["template"]["spec"], daemon)
            chosen = item["spec"]["selector"]["matchLabels"].items()
            check(chosen <= item["spec"]["template"]["metadata"]["labels"].items(), where, "does not choose its own pods")
        elif item["kind"] in ("Service", "PodDisruptionBudget", "NetworkPolicy", "PodMonitor"):
            check_selectors(where, item, labels)
        if item["kind"] == "NetworkPolicy":
            check_dns(where, item["spec"])
        if item["kind"] == "PodMonitor":
            ports = {
                port["name"]
                for template in templates
                for container in template["spec"].get("initContainers", []) + template["spec"]["containers"]
                for port in container.get("ports", [])
            }
            for endpoint in item["spec"]["podMetricsEndpoints"]:
                check(endpoint["port"] in ports, where, f"no container has a port {endpoint['port']}")
        if crd and item["kind"] == crd["spec"]["names"]["kind"]:
            version = item["apiVersion"].partition("/")[2]
            schema = next(entry["schema"] for entry in crd["spec"]["versions"] if entry["name"] == version)
            # metadata is Kubernetes' own, and its schema stands elsewhere.
            bare = {key: value for key, value in item.items() if key != "metadata"}
            for error in jsonschema.Draft202012Validator(closed(schema["openAPIV3Schema"])).iter_errors(bare):
                check(False, where, f"{error.json_path}: {error.message}")
    if mistakes:
        sys.exit("\n".join(mistakes))
    print(f"{len(items)} objects, {len(templates)} kinds of pods")


main()
