"""Compares what scenarios leave behind on a sandbox with recordings that were made on real servers."""

import json

from . import paths, recording, replay

# Where the sandbox is not like real servers, on purpose.
_SANDBOX = recording.Allowed(paths.SCENARIOS / "sandbox-differences.yaml")
_COUNTED = {"resourceTemplateGeneration", "resourcetemplate.karmada.io/generation"}
_JSON = {"policy.karmada.io/applied-placement"}


def compare(one, states, release):
    """The differences from the recording of that release, those of the sandbox and deliberate ones apart."""
    found = replay.compare(_Comparable(one), _comparable(states), one.titles(), release)
    return [each for each in found if isinstance(each, str) or not _SANDBOX.covers(one.name, each)]


class _Comparable:
    """A scenario whose recording is in the form in which states of a sandbox are compared."""

    def __init__(self, one):
        self._one, self.name, self.titles = one, one.name, one.titles

    def recorded(self, release):
        return _comparable(self._one.recorded(release))


def _comparable(value):
    """Without generations of templates: a real server counts a change of a Deployment's annotations as one of its spec, the
    sandbox does not. JSON in annotations is a value, in whose text the order of members does not matter."""
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: "#" if key in _COUNTED else json.loads(item) if key in _JSON else _comparable(item)
            for key, item in value.items()}
