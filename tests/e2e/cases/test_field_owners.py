"""Who owns which field, on a real kube-apiserver: the answers that the sandbox is tested with (tests/data/fields)."""

import os

from rig import field_requests
from rig.suite import PlaneCase


class FieldOwnersTest(PlaneCase):
    maxDiff = 20000

    def test_a_real_server_answers_as_recorded(self):
        field_requests.prepare(self.host)
        self.addCleanup(field_requests.clean, self.host)
        answers = {case["case"]: [field_requests.send(self.host, step) for step in case["steps"]] for case in field_requests.cases()}
        if os.environ.get("RECORD"):
            field_requests.record(answers)
        for name, wanted in field_requests.recorded().items():
            for number, (answer, want) in enumerate(zip(answers[name], wanted, strict=True), 1):
                with self.subTest(case=name, step=number):
                    self.assertEqual(answer, want)
