"""A real Prometheus with rule files, and what the charts' files ask it."""

import copy
import json
import re
import shutil
import urllib.parse
import urllib.request

import yaml

from . import paths
from .process import free_port, must, run, wait_until


# The file of `promtool test rules` for each chart.
SAMPLES = paths.ROOT / "tests" / "data" / "alerts"

# What a test shortens so that it sees within a minute what an operator sees within an hour: the time over which rates are
# taken, the time for which a condition has to hold, and this number. All other thresholds are the shipped ones.
WINDOW, HOLDS = "1m", "5s"
OTHER_NUMBERS = {
    "KarmadaSearchLag": ("> 900", "> 90"),  # Members confirm every minute.
    "KarmadaTemplatesNotArrived": ("> 600", "> 20"),  # The number is how long it waits.
}


def rule_file(chart):
    """The alerts of a chart, as Prometheus reads them."""
    return yaml.safe_load((paths.CHARTS / chart / "files" / "alerts.yaml").read_text())


def alerts(chart):
    """{alert: rule} of a chart."""
    return {rule["alert"]: rule for group in rule_file(chart)["groups"] for rule in group["rules"]}


def hastened(rules):
    """A rule file of which a test need not wait so long."""
    rules = copy.deepcopy(rules)
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        before, after = OTHER_NUMBERS.get(rule["alert"], ("", ""))
        assert before in rule["expr"], f"{rule['alert']} has no {before!r} any more: {rule['expr']}"
        rule["expr"] = re.sub(r"\[\d+[smh]\]", f"[{WINDOW}]", rule["expr"].replace(before, after))
        if "for" in rule:
            rule["for"] = HOLDS
    return rules


def without_comparison(expression):
    """What an alert watches: its expression without the comparisons with numbers, and without the default of what is absent."""
    return re.sub(r" or vector\(0\)", "", re.sub(r"\s(==|!=|<=|>=|<|>) [0-9.]+", "", expression))


def panels(chart):
    """(dashboard, panel, query) of all dashboards of a chart, for all members, with the job of the chart."""
    for file in sorted((paths.CHARTS / chart / "files" / "dashboards").glob("*.json")):
        for panel in json.loads(file.read_text())["panels"]:
            for target in panel.get("targets", []):
                query = target["expr"].replace("$job", chart).replace("$member", ".*").replace("$__rate_interval", "1m")
                yield file.name, panel["title"], query


def check_rules(file):
    """What promtool says of a rule file: subprocess.CompletedProcess."""
    return run(["promtool", "check", "rules", file])


def test_rules(file):
    """What promtool says of alerts on made-up samples: subprocess.CompletedProcess."""
    return run(["promtool", "test", "rules", file])


class Prometheus:
    """Scrapes every second. `targets` are {job: scrape configuration}, and the rules are those of the charts of these names
    unless `rules` has others for all; stop() it."""

    def __init__(self, plane, targets, rules=None, evaluate_every="5s"):
        folder, port = plane.folder / "prometheus", free_port()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._url = f"http://127.0.0.1:{port}"
        self._own_rules = folder / "rules.yaml"
        files = [paths.CHARTS / job / "files" / "alerts.yaml" for job in targets]
        if rules is not None:
            self._write(rules)
            files = [self._own_rules]
        config = folder / "prometheus.yaml"
        config.write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "evaluation_interval": evaluate_every},
            "rule_files": list(map(str, files)),
            "scrape_configs": [{"job_name": job, **target} for job, target in targets.items()]}))
        must(["promtool", "check", "config", config])
        self._process = plane.start("prometheus", [
            "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"])
        wait_until("Prometheus", lambda: self._get("/-/ready"), 60)

    def stop(self):
        self._process.stop()

    def values(self, query):
        """The numbers that a query is answered with now; what is no number is left out."""
        answer = json.loads(self._get(f"/api/v1/query?query={urllib.parse.quote(query)}"))["data"]["result"]
        return [number for number in (float(each["value"][1]) for each in answer) if number == number]

    def rules(self):
        """{alert: rule} as Prometheus has loaded and evaluated it."""
        groups = json.loads(self._get("/api/v1/rules"))["data"]["groups"]
        return {rule["name"]: rule for group in groups for rule in group["rules"]}

    def firing(self, alert):
        """The alerts of this name that are raised: {"labels": ..., "annotations": ...} each."""
        rule = self.rules()[alert]
        assert rule["health"] != "err", f"{alert}: {rule.get('lastError')}"
        return [each for each in rule["alerts"] if each["state"] == "firing"]

    def _write(self, rules):
        self._own_rules.write_text(yaml.safe_dump(rules))
        must(["promtool", "check", "rules", self._own_rules])

    def _get(self, path):
        with urllib.request.urlopen(self._url + path, timeout=10) as answer:
            return answer.read().decode()
