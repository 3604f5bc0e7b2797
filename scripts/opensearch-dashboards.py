#!/usr/bin/env python3
"""Makes the saved objects that OpenSearch Dashboards imports from config/opensearch/saved-objects.yaml.

    opensearch-dashboards.py           writes config/opensearch/saved-objects.ndjson
    opensearch-dashboards.py --check   exit 1 if that file is not what would be written
"""

import json
import pathlib
import sys

import yaml

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "config" / "opensearch"
SOURCE = FOLDER / "saved-objects.yaml"
RESULT = FOLDER / "saved-objects.ndjson"

INDEX_REFERENCE = "kibanaSavedObjectMeta.searchSourceJSON.index"
# Values of a field that a chart shows.
ROWS = 100
# The forms that the objects are written in, as exports of Dashboards 1.0 to 2.19 name them: nothing has to be migrated.
MIGRATED = {"index-pattern": "7.6.0", "search": "7.9.3", "visualization": "7.10.0", "dashboard": "7.9.3"}
PANEL_WIDTH, PANEL_HEIGHT, PANELS_IN_A_ROW = 24, 15, 2


def text(value):
    """JSON within a string, as saved objects have it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def source_of(query):
    """Which documents a search or chart reads."""
    return {"searchSourceJSON": text({"query": {"query": query, "language": "lucene"}, "filter": [],
                                      "indexRefName": INDEX_REFERENCE})}


def reference_to(pattern):
    return [{"name": INDEX_REFERENCE, "type": "index-pattern", "id": pattern["id"]}]


def saved(kind, identity, attributes, references=()):
    return {"type": kind, "id": identity, "attributes": attributes, "references": list(references),
            "migrationVersion": {kind: MIGRATED[kind]}}


def index_pattern(pattern):
    """Has no time field: objects that did not change for long are there as well."""
    return saved("index-pattern", pattern["id"], {"title": pattern["title"]})


def search(entry, pattern):
    attributes = {"title": entry["title"], "description": entry["description"], "columns": entry["columns"],
                  "sort": [[field, "asc"] for field in entry["sort"]], "version": 1, "hits": 0,
                  "kibanaSavedObjectMeta": source_of(entry["query"])}
    return saved("search", entry["id"], attributes, reference_to(pattern))


def bucket(number, field, schema):
    return {"id": str(number), "enabled": True, "type": "terms", "schema": schema,
            "params": {"field": field, "orderBy": "1", "order": "desc", "size": ROWS, "otherBucket": False,
                       "missingBucket": False}}


def schemas_of(kind):
    """What the levels of a chart are: rows of a table, rings of a pie, places and colours of bars."""
    return {"table": ["bucket", "bucket"], "pie": ["segment", "segment"], "histogram": ["segment", "group"],
            "metric": []}[kind]


def chart(entry, pattern):
    kind = entry["type"]
    levels = zip(entry.get("by", []), schemas_of(kind))
    state = {"title": entry["title"], "type": kind,
             "params": {"type": kind, "perPage": 20, "showTotal": False} if kind == "table" else {"type": kind},
             "aggs": [{"id": "1", "enabled": True, "type": "count", "schema": "metric", "params": {}}] +
                     [bucket(number, field, schema) for number, (field, schema) in enumerate(levels, 2)]}
    attributes = {"title": entry["title"], "description": "", "visState": text(state), "uiStateJSON": "{}",
                  "version": 1, "kibanaSavedObjectMeta": source_of(entry.get("query", ""))}
    return saved("visualization", entry["id"], attributes, reference_to(pattern))


def panel(number):
    row, column = divmod(number, PANELS_IN_A_ROW)
    return {"panelIndex": str(number), "panelRefName": f"panel_{number}", "version": "2.19.1", "embeddableConfig": {},
            "gridData": {"i": str(number), "x": column * PANEL_WIDTH, "y": row * PANEL_HEIGHT, "w": PANEL_WIDTH,
                         "h": PANEL_HEIGHT}}


def dashboard(entry, kinds):
    attributes = {"title": entry["title"], "description": entry["description"], "hits": 0, "version": 1,
                  "timeRestore": False, "optionsJSON": text({"hidePanelTitles": False, "useMargins": True}),
                  "panelsJSON": text([panel(number) for number in range(len(entry["panels"]))]),
                  "kibanaSavedObjectMeta": {"searchSourceJSON": text({
                      "query": {"query": "", "language": "lucene"}, "filter": []})}}
    references = [{"name": f"panel_{number}", "type": kinds[identity], "id": identity}
                  for number, identity in enumerate(entry["panels"])]
    return saved("dashboard", entry["id"], attributes, references)


def generate(source):
    pattern = source["index-pattern"]
    objects = [index_pattern(pattern)]
    objects += [search(entry, pattern) for entry in source["searches"]]
    objects += [chart(entry, pattern) for entry in source["charts"]]
    kinds = {saved_object["id"]: saved_object["type"] for saved_object in objects}
    objects += [dashboard(entry, kinds) for entry in source["dashboards"]]
    return "".join(text(saved_object) + "\n" for saved_object in objects)


def main():
    wanted = generate(yaml.safe_load(SOURCE.read_text()))
    if sys.argv[1:] == ["--check"]:
        if RESULT.read_text() != wanted:
            sys.exit(f"{RESULT} is not what {SOURCE.name} says: run scripts/opensearch-dashboards.py")
        return
    RESULT.write_text(wanted)


if __name__ == "__main__":
    main()
